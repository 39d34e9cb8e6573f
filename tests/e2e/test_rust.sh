# shellcheck shell=bash
# Rust panics pass hooked frames: caught, in threads, through C, not caught, and
# where they abort.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
command -v rustc >/dev/null || PATH=$PATH:${HOME:-}/.cargo/bin
need rustc
export RUST_BACKTRACE=0

build() { # OUT OPTION...
	rustc -A warnings -O "${features[@]}" -o "$@" \
		"$TOP/tests/targets/panics.rs" >build.log 2>&1
}

# "C-unwind" is stable since Rust 1.71, black_box since 1.66; Debian 12 has 1.63,
# which has to be told that they are wanted.
features=()
build panics || {
	export RUSTC_BOOTSTRAP=1
	features=(-Z 'crate-attr=feature(c_unwind, bench_black_box)')
	build panics
} || skip "rustc cannot build panics.rs: $(head -n 1 build.log)"
build aborting -C panic=abort || abort 'panic=abort cannot be built'
strip -o stripped panics

it 'catches panics, far and in the next frame, and resumes them'
assert_same_as_native ./panics caught
assert_eq '1200 1500' "$(cat out)" 'caught and dropped'
assert_complete profile
assert_calls profile catcher 100 next_frame 100 resumer 100 nest 1500 \
	note_drop 1500
assert_same_as_native ./stripped caught
assert_complete profile

it 'joins threads that panicked'
assert_same_as_native ./panics threads
assert_eq '10 110' "$(cat out)" 'joined and dropped'
assert_complete profile
assert_calls profile nest 110 note_drop 110

it 'panics through C (and through libc, when that is hooked)'
for option in '' "-M*"; do
	RUN_OPTIONS=(${option:+"$option"})
	assert_same_as_native ./panics through_c
	assert_eq '100 100' "$(cat out)" 'caught and dropped'
	assert_complete profile
	assert_calls profile sort_in_c 100 compare 100 note_drop 100
done
RUN_OPTIONS=()

# The message names the thread's id, where rustc is new.
assert_same_panic() { # PROGRAM ARG...
	local native ours
	native=$(end_of "$@")
	sed 's/ ([0-9]*) / /' "$TMP/err" >native.err
	ours=$(end_of "$RUN" -o profile "$@")
	sed 's/ ([0-9]*) / /' "$TMP/err" >our.err
	assert_eq "$native" "$ours" "end of $*"
	assert_same native.err our.err
	assert_contains our.err 'from below'
	assert_readable profile
	assert_calls profile nest 6
}

it 'ends by a panic that nobody catches'
assert_same_panic ./panics uncaught
assert_calls profile note_drop 6

it 'ends by a panic that aborts'
assert_same_panic ./aborting uncaught
assert_calls profile note_drop 0

finish
