# shellcheck shell=bash
# What lies in libswizzle.so: no register that a program may have live across a
# call and that the hooks do not keep, nothing that is needed from libc, no
# memory that is writable and executable.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need objdump nm readelf
need_targets steady stepper hook_path

it 'executes no vector, x87, MMX or mask instruction'
# All code but capstone's, which is archived with names of its own and runs
# before the program does.
objdump -d --no-show-raw-insn "$LIBSWIZZLE" >disassembly
awk '/^[0-9a-f]+ <.*>:$/ {
		name = substr($2, 2, length($2) - 3)
		ours = name !~ /^(cs_|X86_|MC|SStream|printer|op_|get_|print|decode|insn_|reg|arr_|name2id|id2name)/
		print (ours ? "ours " : "other ") name >"names"
	}
	name ~ /^swz_hook|^swz_(enter|exit|landing|unwound|personality|call_on_stack)/ &&
	/%([xyz]mm|st|mm[0-7]|k[0-7])/ { print name ": " $0 >"bad" }
	END { close("bad") }' disassembly
touch bad
assert_empty bad
assert_ge "$(grep -c '^ours swz_' names)" 50 'functions of ours in it'
for name in swz_hook_enter swz_hook_exit swz_hook_enter_sampled \
	swz_hook_enter_leaf swz_hook_exit_sampled swz_enter swz_exit swz_landing \
	swz_unwound swz_personality; do
	grep -q " $name\$" names || fail "$name is not there"
done

# Whatever can run after the start: all that the sources in src/ and thunks/
# define. The object files say which names those are.
objects=$(find "$BUILD/obj/target" -name '*.o' -not -name 'capstone*' 2>/dev/null)
if [ -n "$objects" ]; then
	# what stores them for -A changes none: see below
	# shellcheck disable=SC2046,SC2086
	objdump -d --no-show-raw-insn $(printf '%s\n' $objects | grep -v '/vectors\.o$') >ours
	grep -E '%([xyz]mm[0-9]|st\b|mm[0-7]|k[0-7])' ours >bad
	assert_empty bad
	grep -E '[[:space:]](f(ld|st|ild|ist|add|mul|div|sub|nstcw|ldcw|xsave|xrstor)|emms|ldmxcsr|stmxcsr|vzero)' ours >bad
	assert_empty bad
	assert_ge "$(grep -c '>:$' ours)" 100 'functions'
fi

it 'stores vector registers for -A, and changes none'
awk '/^[0-9a-f]+ <.*>:$/ { name = $2 }
	name ~ /^<swz_store_/ && !/>:$/ && NF' disassembly >stores
assert_eq 8 "$(grep -c 'movups %xmm[0-7],' stores)" 'stores'
assert_eq 1 "$(grep -c 'fxsave64' stores)" 'stores of the x87 state'
grep -vE 'movups %xmm[0-7],(0x[0-9a-f]+)?\(%rdi\)|fxsave64 \(%rdi\)|ret|nop|cs nopw|xchg *%ax,%ax|data16|int3' stores >bad
assert_empty bad

it 'has no locked, serializing or system instruction in the hooks'
awk '/^[0-9a-f]+ <.*>:$/ { name = $2 }
	name ~ /^<swz_hook_/ && !/>:$/ {
		count++
		if (/[[:space:]](lock|xchg.*\(|cpuid|[lms]fence|rdtscp|serialize|syscall)/)
			print name, $0
	}
	END { print count + 0 >"count" }' disassembly >bad
assert_empty bad
assert_ge "$(cat count)" 300 'instructions of hooks'

# What a call that has been made before executes beside itself: jump, trampoline,
# entry hook, thunk, exit hook. Two rdtsc take some 50 cycles, behind which this
# has to hide.
it 'executes few instructions for a call'
instructions() { # WORK [OPTION...]: the least between the marks, profiled
	local work=$1
	shift
	"$TARGETS/stepper" "$RUN" -q "$@" -o profile "$TARGETS/hook_path" "$work" \
		2>&1 >/dev/null | sort -n | head -n 1
}
for work in flat nested jumps; do
	# (in flat and nested the innermost one calls nothing)
	case $work in
	flat) calls=1 most_sampled=60 ;;
	nested) calls=2 most_sampled=180 ;;
	jumps) calls=4 most_sampled=590 ;;
	esac
	alone=$("$TARGETS/stepper" "$TARGETS/hook_path" $work 2>&1 | sort -n | head -n 1)
	assert_le "$alone" 20 "$work: instructions of the program"
	assert_ge "$alone" 5 "$work: instructions of the program"
	exact=$(($(instructions $work) - alone))
	sampled=$(($(instructions $work --timing sampled) - alone))
	limited=$(($(instructions $work -D 100) - alone))
	traced=$(($(instructions $work --mode=trace) - alone))
	assert_le $traced $((230 * calls)) "$work: traced"
	assert_ge $traced $((80 * calls)) "$work: traced"
	# not wanted: the jump, the trampoline, the gate
	for mode in --timing=exact --timing=sampled --mode=trace; do
		passed=$(($(instructions $work -F nothing "$mode") - alone))
		assert_le $passed $((45 * calls)) "$work: not wanted $mode"
		assert_ge $passed $((15 * calls)) "$work: not wanted $mode"
	done
	assert_le $exact $((175 * calls)) "$work: exact"
	assert_ge $exact $((60 * calls)) "$work: exact"
	assert_le $sampled $most_sampled "$work: sampled, not timed"
	assert_ge $sampled $((25 + 40 * (calls - 1))) "$work: sampled, not timed"
	assert_le $limited $((186 * calls)) "$work: with a depth limit"
done

it 'needs nothing from libc'
nm -uD "$LIBSWIZZLE" | awk '{ sub("@.*", "", $2); print $2 }' | sort >needed
printf '%s\n' _r_debug __stack_chk_fail | sort >allowed
comm -23 needed allowed >bad
assert_empty bad
assert_contains needed _r_debug

it 'exports no name of the program, but where unwinders and compilers look'
nm -D --defined-only "$LIBSWIZZLE" | awk '$3 !~ /^swz_|^swizzle_/ { print $3 }' |
	sort >exported
printf '%s\n' __asan_default_options __cyg_profile_func_enter \
	__cyg_profile_func_exit __fentry__ __lsan_default_options _dl_find_object _mcount \
	dl_iterate_phdr mcount | sort >expected
assert_same expected exported

# By its plain name we reach our own: what is meant is the next one, which
# swz_next_symbol finds.
it 'calls nothing that it has in the place of another function'
libc=$(ldd "$TARGETS/steady" | awk '$1 == "libc.so.6" { print $3 }')
nm -D --defined-only "$libc" | awk '{ sub("@.*", "", $3); print $3 }' | sort -u >of_libc
nm "$LIBSWIZZLE" | awk '$2 ~ /[tTwW]/ { print $3 }' | sort -u >of_ours
comm -12 of_libc of_ours >hidden # (memcpy, say: ours for ourselves)
assert_contains hidden memcpy
for name in $(cat exported hidden); do
	echo "$name"
done | sort -u >instead
awk 'FNR == NR { instead[$1] = 1; next }
	/^[0-9a-f]+ <.*>:$/ { name = substr($2, 2, length($2) - 3) }
	/[[:space:]](call|jmp|j[a-z]+) .*<[^+>]*>$/ {
		to = $NF
		gsub(/[<>]/, "", to)
		calls++
		if (to in instead)
			print name, to
	}
	END { print calls + 0 >"count" }' instead disassembly | sort -u >calls
assert_ge "$(cat count)" 1000 'calls and jumps that were looked at'
awk 'FNR == NR { exported[$1] = 1; next } $2 in exported' exported calls >bad
assert_empty bad
# nor does one that is for ourselves come back to itself
awk 'FNR == NR { instead[$1] = 1; next } $1 in instead' instead calls >among
awk '$1 == $2' among >bad
assert_empty bad
tsort among >/dev/null 2>bad
assert_empty bad

it 'has no segment that is writable and executable, no executable stack'
readelf -lW "$LIBSWIZZLE" >segments
assert_matches segments 'LOAD .* R E '
assert_matches segments 'GNU_STACK .* RW '
awk '/LOAD|GNU_STACK/ && /RWE/' segments >bad
assert_empty bad
readelf -dW "$LIBSWIZZLE" >dynamic
assert_contains dynamic libswizzle.so
grep TEXTREL dynamic >bad
assert_empty bad

it 'maps no memory that is writable and executable'
"$RUN" -o profile "$TARGETS/steady" at >go &
pid=$!
wait_until test -s go
sleep 0.2
cat /proc/$pid/maps >maps
read -r start end < <(nm "$LIBSWIZZLE" | awk '
	$3 == "swz_hooks_start" { start = $1 } $3 == "swz_hooks_end" { end = $1 }
	END { print "0x" start, "0x" end }')
base=0x$(awk '/libswizzle.so/ { sub("-.*", ""); print; exit }' maps)
dd if=/proc/$pid/mem of=hooks iflag=skip_bytes,count_bytes status=none \
	skip=$((base + start)) count=$((end - start))
kill -9 $pid
wait $pid 2>/dev/null
assert_contains maps libswizzle.so
awk '$2 ~ /wx/' maps >bad
assert_empty bad
assert_matches maps "^[^ ]+ rw-s .*$TMP/profile"
# the code of the program is as it was: readable and executable
awk -v program="$TARGETS/steady" '$6 == program && $2 ~ /x/ && $2 != "r-xp"' maps >bad
assert_empty bad

it 'finds the state of the thread with one load'
objdump -D -b binary -m i386:x86-64 --no-show-raw-insn hooks >running
grep -E 'mov +%fs:\(' running >bad
assert_empty bad
assert_eq "$(grep -cE 'mov +%fs:0xffff' running)" \
	"$(grep -cE 'mov +%fs:\(' <(objdump -d --no-show-raw-insn \
		--start-address="$start" --stop-address="$end" "$LIBSWIZZLE"))" \
	'accesses, all of them shortened'

finish
