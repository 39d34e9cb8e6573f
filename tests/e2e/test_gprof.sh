# shellcheck shell=bash
# Programs compiled with -pg: gmon.out is what it is without us, its call graph,
# too, and the functions are hooked.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc gprof

program program.c >program.c

graph() { # the call graph of gmon.out: calls, callers and callees, without times
	gprof -bq ./program gmon.out | awk '/^\[/ || /[0-9]+\/[0-9]+/ { print }' |
		sed -E 's/ +[0-9]+\.[0-9]+//g; s/\[[0-9]+\]//g; s/ +/ /g' | sort
}

for flags in '-O0 -pg' '-O1 -pg' '-O2 -pg' '-O2 -pg -mfentry' '-O2 -pg -fno-pie -no-pie'; do
	it "the call graph of $flags"
	# shellcheck disable=SC2086
	gcc $flags -o program program.c || abort "gcc $flags"
	rm -f gmon.out
	./program >expected
	graph >native
	assert_matches native '1000/1000 *main'
	assert_matches native ' 2000/2300 *work'
	for mode in profile trace count; do
		rm -f gmon.out profile
		"$RUN" -q -m $mode -o profile ./program >out || fail "status $?"
		assert_same expected out
		graph >profiled
		assert_same native profiled
		"$DUMP" -q -f csv -o csv profile
		assert_eq '1000 work 2300 leaf' "$(awk -F , '$7 ~ /^(leaf|work)$/ { print $1, $7 }' csv |
			sort | xargs)" "calls ($mode)"
	done
done

it 'with the mcount of another library that one gets the calls'
cat >tool.c <<'END'
#include <stdio.h>
long calls;
__attribute__((naked)) void mcount(void)
{
	__asm__("pushq %rax; movq calls@GOTPCREL(%rip), %rax; incq (%rax); popq %rax; ret");
}
__attribute__((destructor)) static void end(void) { printf("%ld calls\n", calls); }
END
gcc -O2 -fPIC -shared -o libtool.so tool.c || abort 'libtool is not built'
gcc -O2 -pg -o program program.c -L. -ltool -Wl,--no-as-needed -Wl,-rpath,"$PWD" || abort 'program is not built'
./program >expected
assert_matches expected '^[0-9]{4,} calls$'
rm -f profile
"$RUN" -q -m profile -o profile ./program >out || fail "status $?"
assert_same expected out

finish
