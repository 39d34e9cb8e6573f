# shellcheck shell=bash
# Functions that are hard to patch run as natively, hooked.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets atomics blocks copied late objects patching

it 'loops of a few instructions that go back into the first five bytes'
assert_same_as_native "$TARGETS/atomics"
assert_complete profile
assert_calls profile run 4
"$RUN" --list "$TARGETS/atomics" >list
# such loops are displaced as a whole, not refused
read -r functions patched < <(awk '$1 ~ /libatomic/ { print $2, $3 }' list)
assert_ge $((100 * patched)) $((95 * functions)) 'hooked functions of libatomic'

it 'code that is copied and runs at the copy'
assert_same_as_native "$TARGETS/copied"
assert_complete profile
assert_calls profile calling 10
assert_calls profile called 10
dump_table profile
assert_eq '' "$(row table calls copied)" 'calls of a function that may be copied'

it 'blocks with symbols of their own are no functions'
assert_same_as_native "$TARGETS/blocks"
assert_complete profile
assert_calls profile in_blocks 10
dump_table profile
assert_eq '' "$(row table calls in_blocks.__part.1)" 'calls of a block'

it 'data with the symbol of a function'
assert_same_as_native "$TARGETS/objects"
assert_complete profile
assert_calls profile with_table 10
assert_calls profile typed 10
assert_calls profile padded 10

# All functions of libpatching.so, called ten times each: those named no_* are
# refused, all others are counted, however often they jump to their first byte.
check_patching() { # PROGRAM LIBRARY [OPTION...]
	local program=$1 library=$2
	shift 2
	RUN_OPTIONS=("$@")
	assert_same_as_native "$program"
	assert_complete profile
	dump_table profile
	"$RUN" "$@" -v --list "$program" >list
	sed -n "s|^[^ ]*$library  .*|&|;/^[^ ]*$library  /,/^\//p" list >functions
	awk '$3 == "patched" && $4 ~ /^no_/ || $3 != "patched" && /  [a-z]/ &&
		$NF !~ /^no_/ && $1 ~ /^[0-9a-f]+$/ && NF > 3 && $2 ~ /^[0-9]+$/ &&
		$NF ~ /_/' functions >bad
	assert_empty bad
	for name in $names; do
		expected=10
		case $name in
		no_*) expected=0 ;;
		whence) expected=70 ;; # by others, too
		call_itself) expected=55 ;;
		alias_*) continue ;; # counted as one function
		esac
		calls=$(row table calls "$name")
		[ "$name" = has_aliases ] && calls=$(($(row table calls alias_one || echo 0) + \
			$(row table calls alias_two || echo 0) + ${calls:-0})) && expected=30
		assert_eq $expected "${calls:-0}" "calls of $name"
	done
	assert_eq 10 "$(row table calls carry)" 'calls of carry'
	assert_eq 10 "$(row table calls load_frame)" 'calls of load_frame'
}
names=$("$TARGETS/patching" | sed 's/:.*//')
assert_ge "$(echo "$names" | wc -l)" 50 'functions in the table'

it 'functions that are hard to patch'
check_patching "$TARGETS/patching" libpatching.so
assert_ge "$(grep -c 'patched by a short jump' functions)" 10 'short jumps'
assert_matches functions ' patched  .* behind_a_text$'
assert_matches functions ' patched by a short jump .* behind_a_word$'
assert_eq 1 "$(awk '$1 == 10 && / sub_/' table | wc -l)" \
	'called functions without a symbol that have a part'

# The same results and counts where every function that can gets a short jump.
for tactic in padding neighbour; do
	it "short jumps into $tactic"
	export SWIZZLE_TEST_TACTIC=$tactic
	check_patching "$TARGETS/patching" libpatching.so
	assert_ge "$(grep -c 'patched by a short jump' functions)" 20 'short jumps'
	unset SWIZZLE_TEST_TACTIC
done

# Processors with protection keys heed that a segment is executable alone.
make_execute_only() { # FILE...
	python3 - "$@" <<-'END'
		import struct, sys

		for name in sys.argv[1:]:
		    with open(name, "r+b") as file:
		        data = file.read()
		        headers, = struct.unpack_from("<Q", data, 32)
		        count, = struct.unpack_from("<H", data, 56)
		        for at in range(headers, headers + 56 * count, 56):
		            kind, flags = struct.unpack_from("<II", data, at)
		            if (kind, flags) == (1, 5):
		                file.seek(at + 4)
		                file.write(struct.pack("<I", 1))
	END
}

it 'text that may be executed but not read'
mkdir unreadable
cp "$TARGETS"/{late,liblate*.so} unreadable
make_execute_only unreadable/{late,liblate.so,liblate_other.so}
for option in --timing=exact --imports; do
	RUN_OPTIONS=("$option")
	assert_same_as_native unreadable/late alternate
	assert_complete profile
	assert_calls profile main 1
	"$DUMP" -f info profile >modules
	assert_matches modules '/unreadable/liblate.so +[1-9][0-9]* +[1-9]'
done

# The program maps its file over the page of its text, where the jumps are.
it 'text that the program puts back while it runs is told of'
cat >put_back.c <<'END'
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern char __executable_start;

__attribute__((noinline, section(".text.moved"), aligned(4096))) int first(int n)
{
	__asm__ volatile("");
	return n * 3;
}

__attribute__((noinline, section(".text.moved"))) int second(int n)
{
	return first(n) + 1;
}

__attribute__((noinline, section(".text.stays"), aligned(4096))) int third(int n)
{
	return second(n) + 1;
}

int main(int argc, char **argv)
{
	char *page = (char *)((uintptr_t)first & -(uintptr_t)4096);
	int s = 0, fd = open("/proc/self/exe", O_RDONLY);

	for (int i = 0; i < 1000; i++)
		s += third(i);
	if (argc > 1 &&
	    mmap(page, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
		 page - &__executable_start) != page)
		return 1;
	for (int i = 0; i < 1000; i++)
		s += third(i);
	printf("%d\n", s);
	fflush(stdout);
	if (argc > 2) {
		usleep(3000000);
		dlopen("libm.so.6", RTLD_NOW);
		_exit(0);
	}
	return 0;
}
END
gcc -O1 -o put_back put_back.c || abort 'put_back is not built'
RUN_OPTIONS=()
capture "$RUN" -o "$TMP/profile" -- ./put_back x
assert_status 0
assert_eq 3001000 "$(cat "$TMP/out")" 'output'
assert_matches err '^swizzle: .*/profile: the program has overwritten 2 hooked functions; later calls of them are missing$'
"$DUMP" -q -f info profile >info
assert_matches info '^    patched, and overwritten by the program +2$'
"$DUMP" -f text profile >table 2>warnings
assert_matches table '^# the program has overwritten 2 hooked functions: '
assert_contains warnings 'has overwritten 2 hooked functions'
assert_eq '1000 1000 2000' "$(awk '$4 == "first" || $4 == "second" || $4 == "third" {
	calls[$4] = $1 } END { print calls["first"], calls["second"], calls["third"] }' table)" \
	'calls'
"$DUMP" -q -f raw profile >raw
assert_contains raw 'overwritten 2'

it 'also if it never comes to its end'
capture "$RUN" -q -o "$TMP/profile" -- ./put_back x y
assert_status 0
"$DUMP" -q -f info profile >info
assert_matches info '^    patched, and overwritten by the program +2$'

it 'text that stays is not'
capture "$RUN" -o "$TMP/profile" -- ./put_back
assert_eq '' "$(cat "$TMP/err")" 'errors'
"$DUMP" -q -f info profile >info
assert_eq 0 "$(grep -c overwritten info)" 'lines'
for tactic in padding neighbour branches; do
	SWIZZLE_TEST_TACTIC=$tactic capture "$RUN" -M '*' -o "$TMP/profile" -- \
		/usr/bin/python3 -c 'import json; print(json.dumps([1]))'
	assert_eq '[1]' "$(cat "$TMP/out")" "output ($tactic)"
	"$DUMP" -q -f info profile >info
	assert_eq 0 "$(grep -c overwritten info)" "overwritten ($tactic)"
done

finish
