# shellcheck shell=bash
# -m cover: each function's first call is recorded, and no other; what swizzle-dump
# says of functions that ran and that did not; labels.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need perl gcov
need_targets fib siblings exceptions longjmp tailcalls threads fibers \
	return_addresses late liblate.so
RUN_OPTIONS=(-m cover)

# "FUNCTION MODULE" of all that was called.
ran_in() { # PROFILE
	"$DUMP" -q -f csv "$1" | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["calls"] > 0 { print $at["function"], $at["module"] }' | sort
}

for program in 'fib 4' siblings 'exceptions rethrow' 'longjmp frames' tailcalls \
	threads fibers return_addresses; do
	it "the functions that -m count counts: $program"
	# shellcheck disable=SC2086 # words
	assert_same_as_native "$TARGETS/"$program
	assert_complete profile
	ran_in profile >covered
	# shellcheck disable=SC2086 # words
	"$RUN" -q -m count -o counts -- "$TARGETS/"$program >out 2>err </dev/null
	ran_in counts >counted
	[ -s counted ] || fail 'nothing was called'
	assert_same counted covered
done

it 'the same with plans of earlier starts, of this mode and of another'
export XDG_CACHE_HOME=$TMP/cache
for mode in count cover cover count; do
	"$RUN" -q -m $mode -o $mode.profile "$TARGETS/siblings" >out
	ran_in $mode.profile >$mode.ran
done
assert_same count.ran cover.ran
[ -s cover.ran ] || fail 'nothing was called'
unset XDG_CACHE_HOME

it 'a library that comes late'
assert_same_as_native "$TARGETS/late" once
ran_in profile >covered
assert_matches covered ' liblate\.so$'

it 'registers and flags are as they were'
cat >flags.c <<'C'
#include <stdio.h>
/* Entered with values in all registers that a call may not change, and flags. */
long probe(void);
__asm__(".globl callee; .type callee, @function\n"
	"callee: pushq %rbx; movq %rdi, %rbx\n"
	"leaq (%rbx,%rsi), %rbx; movq %rbx, %rdi; popq %rbx\n"
	"movl $0, %esi; ret; .size callee, . - callee\n"
	".globl probe; .type probe, @function\n"
	"probe: pushq %r12; movl $3, %r12d; xorl %eax, %eax\n"
	"1: movq $11, %rax; movq $12, %rcx; movq $13, %rdx; movq $1, %rdi\n"
	"movq $2, %rsi; movq $14, %r8; movq $15, %r9; movq $16, %r10\n"
	"movq $17, %r11; stc; call callee\n"
	"jc 2f; movq $-1, %rax; jmp 3f\n"
	"2: addq %rcx, %rax; addq %rdx, %rax; addq %rdi, %rax; addq %r8, %rax\n"
	"addq %r9, %rax; addq %r10, %rax; addq %r11, %rax; decl %r12d; jnz 1b\n"
	"3: popq %r12; ret; .size probe, . - probe\n"
	".section .note.GNU-stack,\"\",@progbits");
int main(void)
{
	printf("%ld\n", probe());
	return 0;
}
C
"${CC:-gcc}" -O1 -o flags flags.c || abort 'flags.c is not built'
assert_same_as_native ./flags
assert_calls profile callee 1 probe 1
assert_eq 101 "$(./flags)"

it 'a forked child has the functions that ran in it'
cat >forks.c <<'C'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long sink;
__attribute__((noinline)) void before(void) { sink = sink + 1; }
__attribute__((noinline)) void both(void) { sink = sink + 2; }
__attribute__((noinline)) void after(void) { sink = sink + 3; }
int main(void)
{
	before();
	both();
	if (!fork()) {
		both();
		after();
		_exit(0);
	}
	wait(NULL);
	return 0;
}
C
"${CC:-gcc}" -O1 -o forks forks.c || abort 'forks.c is not built'
rm -rf d
"$RUN" -q -m cover --label test=forks --label 'color=a b' -o d/ ./forks
for file in d/*; do
	ran_in "$file" | awk '$2 == "forks" { printf "%s ", $1 } END { print "" }'
done | sort >ran
printf '%s\n' 'after both ' 'before both main ' >expected
assert_same expected ran

it 'labels are in the profiles, and those of the environment'
for file in d/*; do
	"$DUMP" -f info "$file" >info
	assert_matches info '^test: forks$'
	assert_matches info '^color: a b$'
done
SWIZZLE_LABEL=test=of_environment "$RUN" -q -m count -o labelled ./forks
"$DUMP" -f info labelled >info
assert_matches info '^test: of_environment$'
capture "$RUN" --label wrong ./forks
assert_refused 2 NAME=VALUE

it 'a process that runs, and native code when recording is stopped'
cat >works.c <<'C'
#include <pthread.h>
#include <stdio.h>
static volatile long sink;
__attribute__((noinline)) void step(void) { sink = sink + 1; }
__attribute__((noinline)) void last(void) { sink = sink + 2; }
static void *work(void *quit)
{
	while (!__atomic_load_n((int *)quit, __ATOMIC_RELAXED))
		step();
	return NULL;
}
int main(void)
{
	pthread_t threads[3];
	int quit = 0;
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, &quit);
	puts("ready");
	fflush(stdout);
	getchar();
	__atomic_store_n(&quit, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	last();
	puts("good");
	return 0;
}
C
"${CC:-gcc}" -O1 -pthread -o works works.c || abort 'works.c is not built'
mkfifo to_works
./works <to_works >works.out &
pid=$!
exec 9>to_works
wait_until grep -q ready works.out
for i in 1 2; do
	capture "$RUN" -q -m cover -o attached.$i -p $pid --for 300ms
	assert_status 0
	assert_calls attached.$i last 0
	assert_eq 0 "$("$DUMP" --ran step attached.$i >/dev/null; echo $?)"
	assert_eq 1 "$("$DUMP" --ran last attached.$i >/dev/null; echo $?)"
done
echo >&9
exec 9>&-
wait $pid
assert_eq 0 $? 'exit status'
assert_contains works.out good

# ------------------------------------------------------------------ the answers

it 'the functions that ran are those of gcov, at -O0'
cat >one.c <<'C'
#include <stdlib.h>
static int leaf(int n) { return n + 1; }
static int never(int n) { return n + 2; }
static int maybe(int n) { return n > 2 ? leaf(n) : never(n); }
int unused(int n) { return leaf(n) + never(n); }
static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}
static int (*volatile chosen)(int) = maybe;
int main(int argc, char **argv)
{
	int list[] = {3, 1, 2};
	(void)argv;
	qsort(list, 3, sizeof(*list), compare);
	return argc > 3 ? unused(argc) : chosen(argc + 3) == 0;
}
C
cat >two.cc <<'C'
#include <stdexcept>
#include <string>
#include <vector>
struct shape {
	virtual ~shape() {}
	virtual int area() const = 0;
	virtual int corners() const { return 0; }
};
struct square : shape {
	int side;
	explicit square(int s) : side(s) {}
	int area() const override { return side * side; }
	int corners() const override { return 4; }
};
struct circle : shape {
	int area() const override { return 3; }
};
static int fails(int n)
{
	if (n > 1)
		throw std::runtime_error("n");
	return n;
}
int main()
{
	square s(3);
	const shape &any = s;
	try {
		return fails(any.area());
	} catch (const std::exception &) {
		return 0;
	}
}
C
for source in one.c two.cc; do
	program=${source%.*}
	compiler=${CC:-gcc}
	[ $source = one.c ] || compiler=${CXX:-g++}
	"$compiler" -O0 -g -o $program $source &&
		"$compiler" -O0 -g --coverage -o $program.gcov $source ||
		abort "$source is not built"
	./$program.gcov
	"$RUN" -q -m cover -o $program.prof ./$program
	# "CALLED NAME"; constructors and destructors have several names
	gcov -t -j $program.gcov-$source | perl -ne '
		while (/"name": "(\w+)".*?"execution_count": (\d+)/g) {
			print $2 ? 1 : 0, " $1\n" }' | sort -u >by_gcov
	"$DUMP" -q --demangle no -f lcov $program.prof |
		sed -n 's/@.*//; s/C1E/C2E/; s/D1E/D2E/; s/^FNDA:\([01]\),/\1 /p' |
		sort -u >by_us
	assert_ge "$(wc -l <by_gcov)" 6 "functions of $source"
	# (which leaves out what the compiler has made itself)
	sed 's/^[01] //' by_gcov >known
	grep -w -F -f known by_us >of_source
	assert_same by_gcov of_source
done

it 'a table of what ran and what did not'
"$DUMP" -f cover one.prof >table
assert_matches table '^ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9.]+ %  one$'
assert_matches table "^ +6 +4 +2 +0 +66\\.7 %    .*/one\\.c\$"

it 'functions that never ran, the largest first'
"$DUMP" --never -F 'never' -F unused one.prof >never
assert_matches never '^# 2 functions never ran, [1-9][0-9]* bytes$'
assert_sorted <(awk '/^ *[0-9]/ { print $1 }' never) -rn
assert_matches never '^ +[0-9]+  unused  one  .*/one\.c:5$'

it 'answers for scripts'
for ask in 'leaf 0' 'never 1' 'nosuch 2' 'l* 0'; do
	capture "$DUMP" --ran "${ask% *}" one.prof
	assert_status "${ask#* }"
done
"$DUMP" --ran leaf one.prof >answer
assert_matches answer '^leaf in one: ran$'
capture "$DUMP" --ran leaf -f text one.prof
assert_refused 2 --ran

it 'lcov takes it'
"$DUMP" -q -f lcov -o one.info one.prof
for key in FNF:6 FNH:4; do
	assert_contains one.info $key
done
if have 'genhtml' genhtml; then
	genhtml -q -o html one.info >genhtml.out 2>&1 || fail "$(cat genhtml.out)"
	assert_exists html/index.html
fi

it 'profiles of other modes say the same, but samples do not'
for mode in count profile trace; do
	rm -f other
	"$RUN" -q -m $mode -o other ./one
	assert_eq 0 "$("$DUMP" -q --ran leaf other; echo $?)" $mode
	assert_eq 1 "$("$DUMP" -q --ran never other; echo $?)" $mode
done
rm -f both both.samples
"$RUN" -q -o both ./one
assert_eq 1 "$("$DUMP" -q --ran never both; echo $?)"
"$RUN" -q -m profile -D 1 -o other ./one
capture "$DUMP" -f cover other
assert_status 1
assert_contains err 'left calls out'

it 'a sum has the functions that never ran, too'
rm -f sum
"$RUN" -q -m cover -o more ./one 1 2 3
"$DUMP" -q --merge-into sum one.prof more
"$DUMP" -q -f lcov sum | grep ^FNDA | sort >of_sum
"$DUMP" -q -f lcov one.prof more | grep ^FNDA | sort >of_both
assert_eq 0 "$("$DUMP" -q --ran unused sum; echo $?)"
sed 's/:[1-9][0-9]*,/:1,/' of_sum >sum.names
sed 's/:[1-9][0-9]*,/:1,/' of_both >both.names
assert_same both.names sum.names
rm -f sum
"$DUMP" -q --merge-into sum one.prof
assert_eq 1 "$("$DUMP" -q --ran unused sum; echo $?)"
rm -f sum other
"$RUN" -q -m profile -o other ./one
"$DUMP" -q --merge-into sum other
capture "$DUMP" -f cover sum
assert_status 1
assert_contains err 'only the functions that were called'

it 'the tests that reach a function'
rm -rf tests && mkdir tests
"$RUN" -q -m cover --label test=few -o tests/1 ./one
"$RUN" -q -m cover --label test=many -o tests/2 ./one 1 2 3
"$RUN" -q -m cover --label test=many -o tests/3 ./one 1 2 3 4
assert_eq 'few many' "$("$DUMP" --tests-of main tests | xargs)"
assert_eq many "$("$DUMP" --tests-of unused tests)"
assert_eq few "$("$DUMP" --tests-of maybe tests)"
capture "$DUMP" --tests-of nosuch tests
assert_status 2

it 'the order of first calls, as linkers take it'
"$DUMP" -f order -F main -F compare -F maybe -F leaf one.prof >order
printf '%s\n' main compare maybe leaf >expected
assert_same expected order
"$DUMP" -f sections -F main -F leaf one.prof >sections
printf '.text.%s\n' main leaf >expected
assert_same expected sections
# what both runs call comes first
"$DUMP" -f order -F unused -F main -F never -F leaf one.prof more >order
assert_eq main "$(head -n 1 order)"
assert_eq 4 "$(wc -l <order)"
"$RUN" -q -m count -o other ./one
capture "$DUMP" -f order other
assert_status 1
assert_contains err '-m cover'
for linker in ld.lld ld.gold; do
	have "order files of $linker" $linker || continue
	list=--symbol-ordering-file=order
	[ $linker = ld.lld ] || list=--section-ordering-file=sections
	"$DUMP" -f order one.prof >order
	"$DUMP" -f sections one.prof >sections
	"${CC:-gcc}" -O0 -ffunction-sections -fuse-ld=${linker#ld.} -Wl,$list \
		-o ordered one.c 2>linked || fail "$(cat linked)"
	nm -n ordered | awk '/ [tT] (main|compare|maybe|leaf)$/ { print $3 }' >placed
	printf '%s\n' main compare maybe leaf >expected
	assert_same expected placed
done

finish
