# shellcheck shell=bash
# A library of many short functions side by side returns the same with and
# without swizzle, and every function that is said to be hooked is counted each
# time that it is entered, whatever jump leads to its trampoline.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets short short_late

"$TARGETS/short" counts | sort >expected
assert_ge "$(wc -l <expected)" 1000 'functions'

check_short() {
	assert_same_as_native "$TARGETS/short"
	assert_complete profile
	"$RUN" -v --list "$TARGETS/short" |
		sed -n '/libshort/,/^\//p' >functions
	awk '$3 == "patched" && $NF ~ /^s[0-9]+$/ { print $NF }' functions |
		sort >patched
	join expected patched >wanted
	# of 1 byte: nothing fits; else what is out of reach of any island
	assert_ge $((100 * $(wc -l <wanted))) $((90 * $(wc -l <expected))) \
		'hooked functions'
	dump_table profile -n 100000
	awk '$(NF - 1) ~ /^s[0-9]+$/ { print $(NF - 1), $1 }' table | sort >counted
	assert_same wanted counted
}

it 'short functions'
check_short
assert_ge "$(grep -c 'patched by a short jump' functions)" 300 'short jumps'

for tactic in padding neighbour; do
	it "short functions, all with a short jump into $tactic that can"
	export SWIZZLE_TEST_TACTIC=$tactic
	check_short
	assert_ge "$(grep -c 'patched by a short jump' functions)" 300 \
		'short jumps'
	unset SWIZZLE_TEST_TACTIC
done

it 'a library with short jumps that is loaded again'
"$TARGETS/short" counts | awk '{ print $1, $2 / 3 * 4 }' | sort >expected
"$RUN" -v --list "$TARGETS/short" | sed -n '/libshort/,/^\//p' |
	awk '$3 == "patched" && $NF ~ /^s[0-9]+$/ { print $NF }' | sort >patched
join expected patched >wanted
assert_same_as_native "$TARGETS/short_late"
assert_complete profile
dump_table profile -n 100000
awk '$(NF - 1) ~ /^s[0-9]+$/ { print $(NF - 1), $1 }' table | sort >counted
assert_same wanted counted

# Loops that go back to what the jump takes, and are too long to be displaced as
# a whole; nothing is in reach that an island could be.
program loops.S >loops.S
program loops.c >loops.c
gcc -O1 -o loops loops.c loops.S || abort 'loops is not built'
gcc -shared -o loops.so loops.S || abort 'loops.so is not built'
gcc -O1 -DLATE -o loops_late loops.c || abort 'loops_late is not built'

check_loops() { # PROGRAM
	assert_same_as_native "$1"
	assert_complete profile
	assert_calls profile by_jcc 10 by_jmp 10 by_two 10 to_call 10 leaf 55 \
		to_start 10
}

it 'loops back into the site, of which the branch is led to the copies'
for _ in planned cached; do
	check_loops ./loops
	"$RUN" -v --list ./loops >list
	for name in by_jcc by_jmp by_two to_call; do
		assert_matches list " patched with its loop led on +$name\$"
	done
	for name in by_three entered; do
		assert_matches list " branch into the patch site +$name\$"
	done
done

it 'such loops in a library that is loaded again and again'
check_loops ./loops_late

# Before it lies code that no symbol and no unwind table speaks of. Of the last
# function of a section only that padding is left.
it 'padding before a short function that comes last'
program last.c >last.c
for how in returns jumps calls enters ; do
	cat >last.S <<END
	.section .note.GNU-stack, "", @progbits
	.section .text.z, "ax", @progbits
	.set how_$how, 1
	.balign 16
	.globl unknown
	.type unknown, @notype
unknown:
	leal	3(%rdi), %eax
	.rept	40
	nopl	0x11223344(%rax,%rax)
	.endr
.ifdef how_returns
	ret
.endif
.ifdef how_jumps
	jmp	2f
	.balign 16
2:	ret
	jmp	unknown
.endif
.ifdef how_calls
	.byte	0xe8	/* the next instruction: it comes to the padding */
	.long	0
	.globl	less
.endif
.ifdef how_enters
	jmp	1f
	nopl	0(%rax)
.endif
.ifdef how_enters
1:	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	.byte	0x0f, 0x1f, 0x40, 0x00
.else
	.balign 16
.endif
	.balign 16
	.globl	less
	.type	less, @function
less:	.cfi_startproc
	movl	(%rdi), %eax
	ret
	.cfi_endproc
	.size	less, . - less
END
	gcc -O1 -o last last.c last.S || abort 'last is not built'
	"$RUN" --no-cache --list -v ./last >list
	RUN_OPTIONS=(--no-cache)
	case $how in
	returns | jumps)
		assert_matches list ' patched by a short jump +less$'
		assert_same_as_native ./last
		assert_complete profile
		assert_calls profile less 9 main 1
		strip -o last.stripped last
		assert_same_as_native ./last.stripped
		assert_matches <("$DUMP" -q -f text profile) '^ +9 .* sub_[0-9a-f]+ +last'
		;;
	*)
		assert_matches list ' too short for a jump +less$'
		;;
	esac
done

finish
