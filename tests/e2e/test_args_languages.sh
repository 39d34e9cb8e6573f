# shellcheck shell=bash
# --args in Rust and Fortran: what 200 functions with random arguments and results
# were given and returned, as they print it themselves.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
export SWIZZLE_MODE=trace

calls_of_functions() { # FILE
	sed -nE 's/.*[ :](function[0-9]+(\(.*)? = .*)  from .*$/\1/p' "$1"
}

record() { # PROGRAM
	"./$1" | grep '^function' >expected
	assert_ge "$(wc -l <expected)" 200 'functions that print'
	capture "$RUN" -q --args='*function*' -o profile "./$1"
	assert_status 0
	assert_empty err
	"$DUMP" --calls-of '*function*' -s start -n 0 profile >calls || fail 'calls'
	calls_of_functions calls >got
}

seed=1
if command -v gfortran >/dev/null; then
	python3 "$TOP/tests/e2e/generate_fortran.py" --helpers >helpers.c
	gcc -O2 -c helpers.c
	for level in -O0 -O2; do
		it "shows what procedures of Fortran print: $level"
		python3 "$TOP/tests/e2e/generate_fortran.py" 200 $seed >program.f90
		seed=$((seed + 1))
		gfortran -g $level -o program program.f90 helpers.o || abort 'gfortran failed'
		record program
		assert_ge "$(wc -l <got)" 200 'calls'
		assert_same expected got
	done
fi

command -v rustc >/dev/null || PATH=$PATH:${HOME:-}/.cargo/bin
if command -v rustc >/dev/null; then
	for level in 0 2; do
		it "shows what functions of Rust print: opt-level=$level"
		python3 "$TOP/tests/e2e/generate_rust.py" 200 $seed >program.rs
		seed=$((seed + 1))
		rustc -A warnings -g -C opt-level="$level" -o rusty program.rs ||
			RUSTC_BOOTSTRAP=1 rustc -A warnings -g -C opt-level=$level \
				-Z 'crate-attr=feature(bench_black_box)' -o rusty program.rs ||
			abort 'rustc failed'
		record rusty
		assert_ge "$(wc -l <got)" 150 'calls'
		# what a version of rustc may do in its own way is left out
		python3 "$TOP/tests/e2e/compare_signatures.py" expected got >whole ||
			fail "$(cat whole)"
		assert_ge "$(cat whole)" 150 'calls with all of their values'
	done
fi

finish
