# shellcheck shell=bash
# Modules of every kind of link: the hard cases of libpatching.S in a program at
# a fixed address, in segments that are laid out otherwise, by other linkers;
# and what compilers put at the start of functions.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc
sources="$TOP/tests/targets/patching.c $TOP/tests/targets/libpatching.S"

# What is refused and what is counted, by the names (test_patching.sh).
check() { # PROGRAM
	local name calls expected names
	assert_same_as_native "$1"
	assert_complete profile
	dump_table profile
	names=$("$1" | sed 's/:.*//')
	assert_ge "$(echo "$names" | wc -l)" 50 'functions that it names'
	for name in $names; do
		expected=10
		case $name in
		no_*) expected=0 ;;
		whence) expected=70 ;; # by others, too
		call_itself) expected=55 ;;
		*alias*) continue ;; # counted as one function
		esac
		calls=$(row table calls "$name")
		assert_eq $expected "${calls:-0}" "calls of $name"
	done
}

build() { # NAME FLAG...: builds libpatching.S and its program into one
	local name=$1
	shift
	# shellcheck disable=SC2086
	if ! gcc -O2 -w -o "$name" $sources "$@" 2>build.err; then
		echo "not built here: $name ($*): $(head -n 1 build.err)"
		return 1
	fi
	if ! ./"$name" >/dev/null 2>build.err; then
		echo "does not run here: $name ($*): $(head -n 1 build.err)"
		return 1
	fi
}

it 'a program at a fixed address'
build fixed -no-pie -fno-pie && check ./fixed
it 'at a high fixed address'
build high -no-pie -fno-pie -Wl,-Ttext-segment=0x60000000 && check ./high

it 'a program that maps all below it by MAP_FIXED, as a loader of another format does'
cat >over.c <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

extern char __executable_start;
static volatile int sink;

__attribute__((noinline)) int step(int n)
{
	return sink = n;
}

int main(void)
{
	char *low = (char *)0x20000, *high = &__executable_start;

	step(1);
	if (mmap(low, high - low, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != low)
		return 2;
	memset(low, 0xcc, high - low);
	for (int i = 0; i < 1000; i++)
		step(i);
	puts("done");
	return 0;
}
END
if gcc -O1 -no-pie -fno-pie -o over over.c && [ "$(./over)" = "done" ]; then
	for cached in no yes; do
		assert_same_as_native ./over
		assert_eq 1001 "$("$DUMP" -q -f csv -o - profile |
			awk -F , '$7 == "step" { print $1 }')" "calls of step ($cached)"
	done
else
	echo 'does not run here: a program that maps all below it'
fi

# As it would be by chance: it looks where they are.
it 'a program that takes the place of its own trampolines: its functions are lost, and not the program'
cat >takes.c <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static volatile int sink;

__attribute__((noinline)) int step(int n)
{
	return sink = n;
}

/* Its branch leads back into its first bytes. */
__attribute__((noinline)) int loops(int n)
{
	int sum = 0;

	do
		sum += step(n);
	while (--n > 0);
	return sum;
}

int main(int argc, char **argv)
{
	unsigned long low[16], high[16], start, end;
	char line[512], rights[8];
	int count = 0, sum = 0, word;
	FILE *maps;

	(void)argv;
	for (int i = 0; i < 100; i++)
		sum += loops(3);
	if (argc > 2) { /* it is attached to, and detached from */
		puts("ready");
		fflush(stdout);
		getchar();
		for (int i = 0; i < 100; i++)
			sum += loops(3);
	}
	maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) == 3 &&
		    start < 0x80000000 && rights[2] == 'x' && !strchr(line, '/') &&
		    count < 16) {
			low[count] = start;
			high[count++] = end;
		}
	fclose(maps);
	for (int i = 0; i < count; i++) {
		void *place = (void *)low[i];

		if (argc > 1 && argv[1][0] == 'u') {
			munmap(place, 4096);
			continue;
		}
		if (mmap(place, high[i] - low[i], PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != place)
			return 2;
		memset(place, 0xcc, high[i] - low[i]);
	}
	for (int i = 0; i < 100; i++)
		sum += loops(3);
	if (argc > 2) {
		puts("taken");
		fflush(stdout);
		while ((word = getchar()) != EOF)
			sum += loops(word == 'x');
	}
	fprintf(stderr, "places: %d\n", count);
	printf("sum %d\n", sum);
	return 0;
}
END
gcc -O1 -no-pie -fno-pie -o takes takes.c || abort 'not built'
./takes m >native.out 2>/dev/null
for mode in profile trace count both 'trace --imports'; do
	for how in m u; do
		rm -f profile
		# shellcheck disable=SC2086 # words are wanted
		capture "$RUN" -m $mode -o profile ./takes $how
		assert_status 0
		assert_same native.out out
		assert_contains err 'places: 1'
		assert_contains err 'its functions are not recorded any more'
		assert_eq 300 "$("$DUMP" -q -f csv -o - profile |
			awk -F , '$7 == "step" { print $1 }')" "calls of step, -m $mode, $how"
	done
done
mkfifo takes.in
rm -f profile
./takes m wait <takes.in >takes.out 2>takes.err &
program=$!
exec 8>takes.in
wait_until grep -qx ready takes.out
"$RUN" -q -m profile -o profile -p $program &
controller=$!
wait_until test -s profile
echo >&8
wait_until grep -qx taken takes.out
kill -INT $controller
wait $controller
assert_eq 0 $? "swizzle-run's exit status"
exec 8>&-
wait $program
assert_eq 0 $? "the program's exit status"
assert_contains takes.err 'places: 1'

it 'the heap of a program at a fixed address grows as far as natively'
cat >grows.c <<'END'
#include <stdio.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) int step(int n)
{
	return sink = n;
}

int main(void)
{
	int grown = 0;

	while (grown < 3000 && sbrk(1 << 20) != (void *)-1)
		grown = step(grown) + 1;
	printf("%d MiB\n", grown);
	return 0;
}
END
gcc -O1 -no-pie -fno-pie -o grows grows.c || abort 'not built'
for _ in 1 2 3 4; do # its place is another one each time
	assert_same_as_native ./grows
done
# Then the heap begins right behind the program.
if setarch -R ./grows >native.out 2>/dev/null; then
	assert_same_as_native setarch -R ./grows
else
	echo 'not tested: a heap right behind the program'
fi

# Trampolines near the program must not lie where its heap will be: there is no
# room before it.
if [ -e "$TARGETS/heap" ] && setarch -R "$TARGETS/heap" >native.out 2>/dev/null
then
	for how in '' 'setarch -R'; do
		it "a heap that grows behind such a program ($how)"
		rm -f profile
		# shellcheck disable=SC2086
		capture $how "$RUN" -o profile "$TARGETS/heap"
		assert_status 0
		assert_same native.out out
		assert_empty err
		assert_complete profile
		dump_table profile
		assert_eq 192 "$(row table calls grow)" 'calls of grow'
	done
else
	echo 'not tested: a heap behind a program at a fixed address'
fi
it 'no part of which is made read-only'
build writable -Wl,-z,norelro && check ./writable
it 'code and data in one segment'
build together -Wl,-z,noseparate-code && check ./together
it 'the same at a fixed address'
build together_fixed -no-pie -fno-pie -Wl,-z,noseparate-code &&
	check ./together_fixed
it 'packed relocations'
build packed -Wl,-z,pack-relative-relocs && check ./packed
it 'text in several segments'
if build split -no-pie -fno-pie -Wl,--section-start=.text_far=0x2000000; then
	segments=$(readelf -lW split | grep -c 'LOAD.* R E ')
	assert_eq 2 "$segments" 'segments with text'
	check ./split
fi
if build split_pie -Wl,--section-start=.text_far=0x2000000; then
	check ./split_pie
fi
for linker in gold lld mold; do
	it "linked by $linker"
	build by_$linker -fuse-ld=$linker -Wl,-z,noexecstack && check ./by_$linker
done
it 'linked by lld, relocations packed'
build lld_packed -fuse-ld=lld -Wl,--pack-dyn-relocs=relr && check ./lld_packed

for how in -Wl,-z,nopack-relative-relocs -Wl,-z,pack-relative-relocs; do
	it "a library that is loaded later ($how)"
	sed 's/int main/int patching_main/' "$TOP/tests/targets/patching.c" \
		>later.c
	cat >load.c <<'END'
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	void *library = dlopen("./later.so", RTLD_NOW);
	int (*run)(void) = library ? dlsym(library, "patching_main") : 0;

	if (!run)
		puts(dlerror());
	return run ? run() : 1;
}
END
	gcc -O2 -w -o load load.c -ldl
	if ! gcc -O2 -w -shared -fPIC -o later.so later.c \
		"$TOP/tests/targets/libpatching.S" -Wl,-Bsymbolic \
		-Wl,-z,noexecstack "$how" 2>build.err; then
		echo "not built here: later.so ($how): $(head -n 1 build.err)"
		continue
	fi
	check ./load
done

# Where a function of this library calls dlsym the next library has the symbol;
# for a function that only jumps there it is its caller that asks.
cat >next.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
typedef int function(void);
int who(void) { return 2; }
__attribute__((noipa)) function *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}
__attribute__((noipa)) function *next_version(const char *name)
{
	return dlvsym(RTLD_NEXT, name, "VERSION");
}
__attribute__((noipa)) long measure(const char *name)
{
	return atol(name);
}
int ask(void)
{
	return 10 * next("who")() + next_version("who")() + measure("0");
}
#ifdef TAKEN
void *volatile taken;
void take(void)
{
	taken = (void *)&dlvsym;
	taken = (void *)&dlsym;
}
#endif
END
cat >asking.c <<'END'
#include <stdio.h>
int ask(void);
int main(void)
{
	printf("%d\n", ask());
	return 0;
}
END
echo 'VERSION { who; };' >next.map
for n in 1 3; do
	gcc -shared -fPIC -o libwho$n.so -x c - -Wl,--version-script=next.map \
		<<<"int who(void) { return $n; }"
done
without_sections() { # FILE
	head -c 8 /dev/zero | dd of="$1" bs=1 seek=40 conv=notrunc status=none
	head -c 6 /dev/zero | dd of="$1" bs=1 seek=58 conv=notrunc status=none
}
for how in -Wl,-z,lazy -Wl,-z,now '-fcf-protection -Wl,-z,ibtplt' -fno-plt \
	'-DTAKEN -Wl,-z,now' -fuse-ld=gold -fuse-ld=lld -fuse-ld=mold \
	'-fuse-ld=mold -Wl,-z,now' '-DTAKEN -fuse-ld=mold -Wl,-z,now' \
	'-fuse-ld=lld -Wl,-z,retpolineplt' \
	'-fuse-ld=lld -Wl,-z,retpolineplt -Wl,-z,now'; do
	it "a jump to what looks at its return address ($how)"
	# shellcheck disable=SC2086
	if ! gcc -O2 -w -shared -fPIC -o libnext.so next.c $how 2>build.err; then
		echo "not built here: libnext.so ($how): $(head -n 1 build.err)"
		continue
	fi
	gcc -O2 -o asking asking.c -Wl,--no-as-needed -L. -lwho1 -lnext -lwho3 \
		-Wl,-rpath,"$TMP"
	assert_eq 33 "$(./asking)"
	assert_same_as_native ./asking
	assert_complete profile
	assert_calls profile ask 1
	dump_table profile
	assert_eq '' "$(row table calls next)" 'calls of next'
	case $how in
	*TAKEN* | *retpoline*) ;;
	*)
		it "the same without section headers ($how)"
		without_sections libnext.so
		assert_same_as_native ./asking
		"$RUN" --list -v ./asking >list
		assert_eq 2 "$(sed -n '/libnext/,/^\//p' list |
			grep -cE '^ +[0-9a-f]+ +[0-9]+ +tail-calls')" \
			'those that only jump there'
		;;
	esac
done

it 'stripped'
for name in split by_lld; do
	[ -e $name ] || continue
	calls=$(calls_of profile invoke)
	strip -s -o stripped $name
	assert_same_as_native ./stripped
	assert_complete profile
done

it 'an unwind table in which a function begins in the midst of another'
cat >midst.c <<'END'
#include <stdio.h>
long first(long n);
long second(long n);
__asm__(".text\n.balign 16\n"
	".globl first\n.type first, @function\n"
	"first:\n.cfi_startproc\n"
	"movabs $0x9090909090909090, %rax\n"
	"movabs $0x9090909090909000, %rdx\n"
	"sub %rdx, %rax\nadd %rdi, %rax\nret\n"
	".cfi_endproc\n.size first, . - first\n.balign 16\n"
	".globl second\n.type second, @function\n"
	"second:\n.cfi_startproc\n"
	"movabs $0x9090909090909090, %rax\n"
	"lea 1(%rdi), %rax\nret\n"
	".cfi_endproc\n.size second, . - second\n");
int main(void)
{
	printf("%ld %ld\n", first(1), second(2));
	return 0;
}
END
gcc -O2 -o midst midst.c
# The entry of second is moved to the fifth byte of first.
first=$(nm midst | sed -n 's/ T first$//p')
second=$(nm midst | sed -n 's/ T second$//p')
at=$(readelf -wf midst | sed -n "s/^0*\([0-9a-f]*\) .* FDE .*pc=$second\..*/\1/p")
section=$(readelf -SW midst |
	sed -n 's/.* \.eh_frame *PROGBITS *[0-9a-f]* *\([0-9a-f]*\) .*/\1/p')
at=$((0x$at + 0x$section + 8))
moved=$(($(od -An -td4 -j $at -N 4 midst) - 0x$second + 0x$first + 4))
# shellcheck disable=SC2059
printf "$(printf '\\x%02x' $((moved & 255)) $((moved >> 8 & 255)) \
	$((moved >> 16 & 255)) $((moved >> 24 & 255)))" |
	dd of=midst bs=1 seek=$at conv=notrunc status=none
assert_eq 1 "$(readelf -wf midst 2>/dev/null |
	grep -c "pc=0*$(printf %x $((0x$first + 4)))\.\.")" 'entries there'
assert_same_as_native ./midst
strip midst
assert_same_as_native ./midst

it 'a library at an address of its own'
gcc -shared -fPIC -o libpatching.so "$TOP/tests/targets/libpatching.S" \
	-Wl,-Bsymbolic -Wl,-z,noexecstack -Wl,-Ttext-segment=0x3100000000
gcc -O2 -o prelinked "$TOP/tests/targets/patching.c" -L. -lpatching \
	-Wl,-rpath,"$TMP"
check ./prelinked
it 'a library that is linked at a higher address than it is mapped at'
gcc -shared -fPIC -o libbefore.so -x c - -Wl,-Ttext-segment=0x7ffef0000000 \
	<<<'int before(void) { return 1; }'
gcc -shared -fPIC -o libpatching.so "$TOP/tests/targets/libpatching.S" \
	-Wl,-Bsymbolic -Wl,-z,noexecstack -Wl,-Ttext-segment=0x7ffef0000000
gcc -O2 -o unlucky "$TOP/tests/targets/patching.c" -Wl,--no-as-needed -L. \
	-lbefore -lpatching -Wl,-rpath,"$TMP"
check ./unlucky

it 'a module with no room within reach: arrays behind it, and nothing may be below'
cat >huge.c <<'END'
#include <stdio.h>
static char room[3ul << 30];
__attribute__((noinline)) static int touch(long at)
{
	room[at] = 3;
	return room[at] + room[at / 2];
}
int main(void)
{
	printf("%d %d\n", touch(0), touch((3l << 30) - 1));
	return 0;
}
END
if gcc -O1 -mcmodel=medium -fno-pie -no-pie -Wl,-Ttext-segment=0x10000 -o huge \
	huge.c && ./huge >/dev/null 2>&1; then
	capture "$RUN" -o profile ./huge
	assert_contains err 'swizzle: no function is hooked: no memory for trampolines'
	RUN_OPTIONS=(-q)
	assert_same_as_native ./huge
	RUN_OPTIONS=()
	assert_complete profile
	assert_matches info '^ +no trampoline memory within reach +[1-9]'
else
	echo 'a program of 3 GiB does not run here: not tested'
fi

it 'aliases, versions, folded functions, indirect functions'
cat >names.c <<'END'
#include <stdio.h>
static int one(int x)
{
	return x * 3 % 5 + 1;
}
static int two(int x)
{
	return x * 3 % 5 + 2;
}
int other(int) __attribute__((alias("aliased")));
__attribute__((noinline)) int aliased(int x)
{
	return x * 5 % 7;
}
__attribute__((noinline)) int same_one(int x)
{
	return x * 9 % 11;
}
__attribute__((noinline)) int same_two(int x)
{
	return x * 9 % 11;
}
static int (*choose(void))(int)
{
	static volatile int best = 1;
	return best ? two : one;
}
int indirect(int) __attribute__((ifunc("choose")));
__asm__(".symver old_name, versioned@V1\n.symver new_name, versioned@@V2");
__attribute__((noinline)) int old_name(int x)
{
	return x % 3 - 1;
}
__attribute__((noinline)) int new_name(int x)
{
	return x % 3 - 2;
}
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 20; i++)
		sum += indirect(i) + aliased(i) + other(i) + same_one(i) +
		       same_two(i) + old_name(i) + new_name(i);
	printf("%d\n", sum);
	return 0;
}
END
echo 'V1 { }; V2 { } V1;' >names.map
for flags in '' '-fuse-ld=gold -Wl,--icf=all' '-fuse-ld=lld -Wl,--icf=all'; do
	# shellcheck disable=SC2086
	gcc -O1 -fno-ipa-icf -fPIE -pie -ffunction-sections -o names names.c \
		-Wl,--version-script=names.map $flags 2>/dev/null || {
		echo "not built here: ICF with $flags"
		continue
	}
	assert_same_as_native ./names
	assert_complete profile
	dump_table profile
	assert_eq 20 "$(row table calls two)" "calls of the indirect function $flags"
	for alike in 'aliased|other' 'same_one|same_two' \
		'old_name|new_name|versioned'; do
		awk -v names="^($alike)" '!/^#/ && $(NF - 1) ~ names { n += $1 }
			END { print n + 0 }' table >sum
		assert_eq 40 "$(cat sum)" "calls of $alike $flags"
	done
done

it 'a program that begins at a function of its own'
for how in '' -DTABLE; do
	# shellcheck disable=SC2086
	gcc -O2 -nostartfiles -Wl,-e,begin $how -o own_start \
		"$TOP/tests/targets/own_start.c" || abort 'own_start is not built'
	timeout 60 ./own_start a b >native.out 2>native.err
	native=$?
	rm -f profile
	capture timeout 60 "$RUN" -o profile ./own_start a b
	assert_status $native
	assert_same native.out out
	assert_empty err
	assert_complete profile
	dump_table profile
	assert_eq 10 "$(row table calls work)" 'calls of work'
done

it 'sections of code far apart cost no memory for what is between them'
cat >apart.c <<'END'
#include <stdio.h>
/* as short as that, its jump alone would have to reach */
__attribute__((noinline)) int near(int x) { return x + 1; }
__attribute__((noinline)) int after(int x) { return x * 77 + 12345; }
__attribute__((section(".apart"))) int apart(int x) { return x + 2; }
int main(void)
{
	int (*volatile far)(int) = apart;
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long kb = 0;

	while (!kb && status && fgets(line, sizeof(line), status))
		sscanf(line, "VmHWM: %ld", &kb);
	printf("%d, %s\n", far(near(after(1))), kb < 500000 ? "small" : "large");
	return 0;
}
END
gcc -O2 -no-pie -fno-pie -mcmodel=large -fno-asynchronous-unwind-tables \
	-o apart apart.c -Wl,--section-start=.apart=0x8000000000
capture "$RUN" -o profile ./apart
assert_contains err 'swizzle: no function is hooked: no memory for trampolines'
RUN_OPTIONS=(-q)
assert_same_as_native ./apart
RUN_OPTIONS=()
assert_complete profile
assert_matches info '^ +no trampoline memory within reach +[1-9]'

it 'parts of functions without unwind tables: those that are called are counted'
cat >parts.c <<'END'
#include <stdio.h>
int split(int x);
__asm__(".text\n"
	".type split,@function\n"
	"split:	test %edi,%edi\n"
	"	js split.cold\n"
	"	jne split.part.0\n"
	"	mov $3,%eax\n"
	"	ret\n"
	".size split,.-split\n"
	".p2align 4\n"
	".type split.part.0,@function\n"
	"split.part.0:	lea (%rdi,%rdi,4),%eax\n"
	"	and $1023,%eax\n"
	"	ret\n"
	".size split.part.0,.-split.part.0\n"
	".p2align 4\n"
	".type split.cold,@function\n"
	"split.cold:	neg %edi\n"
	"	mov %edi,%eax\n"
	"	ret\n"
	".size split.cold,.-split.cold\n");
int main(void)
{
	int sum = 0;
	for (int i = -3; i < 8; i++)
		sum += split(i);
	printf("%d\n", sum);
	return 0;
}
END
gcc -O1 -fno-asynchronous-unwind-tables -o parts parts.c
assert_same_as_native ./parts
assert_complete profile
dump_table profile
assert_eq 11 "$(row table calls split)" 'calls of split'
assert_eq 7 "$(row table calls split.part.0)" 'calls of its part'
assert_eq '' "$(row table calls split.cold)" 'calls of its cold part'

it 'text in dozens of segments: up to 64 are hooked, kept plans included'
for count in 40 70; do
	{
		echo '#include <stdio.h>'
		# what nothing leads out of may be copied, and is left alone
		echo '__attribute__((noinline)) int outside(int x) { return x + 5; }'
		sections=
		for ((i = 0; i < count; i++)); do
			printf '__attribute__((noinline, section(".at%d"))) ' $i
			printf 'int f%d(int x) { return outside(x) * %d; }\n' $i $((i + 2))
			sections+=$(printf ' -Wl,--section-start=.at%d=0x%x' \
				$i $((0x10000000 + i * 0x10000)))
		done
		printf 'int main(void)\n{\n\tint x = 1;\n'
		printf '\tfor (int i = 0; i < 3; i++) {\n'
		for ((i = 0; i < count; i++)); do
			printf '\t\tx = f%d(x) %% 1000;\n' $i
		done
		printf '\t}\n\tprintf("%%d\\n", x);\n\treturn 0;\n}\n'
	} >dozens.c
	# shellcheck disable=SC2086
	gcc -O1 -no-pie -fno-pie -o dozens dozens.c $sections
	for start in first second; do
		assert_same_as_native ./dozens
		assert_complete profile
		dump_table profile
		expected=3
		if [ "$count" = 70 ]; then
			expected=
		fi
		for i in 0 15 16 39; do
			assert_eq "$expected" "$(row table calls f$i)" \
				"calls of f$i of $count, $start start"
		done
	done
done

it 'what compilers put at the start of functions'
cat >entries.c <<'END'
#include <stdio.h>
__attribute__((used)) static int first(int x) /* not right behind crt's */
{
	return x % 3 + x % 5 + x % 7;
}
__attribute__((noinline)) int leaf(int x)
{
	return x * 3 % 5 + 1;
}
__attribute__((noinline)) int middle(int x)
{
	int sum = 0;
	for (int i = 0; i < x; i++)
		sum += leaf(i);
	return sum;
}
int main(void)
{
	printf("%d\n", middle(100));
	return 0;
}
END
for flags in '-fpatchable-function-entry=5,0' '-fpatchable-function-entry=16,5' \
	'-fpatchable-function-entry=2,1' '-fcf-protection=full' \
	'-fcf-protection=full -fpatchable-function-entry=16,5' '-pg' \
	'-pg -mfentry' '-fsplit-stack -fuse-ld=gold' \
	'-mindirect-branch=thunk -fcf-protection=none' \
	'-mindirect-branch=thunk-inline -fcf-protection=none' '-fno-plt' \
	'-fstack-protector-all' '-Os' '-fstack-clash-protection' '-fsanitize=address' \
	'-mtls-dialect=gnu2' '-mforce-drap' '-mstackrealign'; do
	if [ "$flags" = -fsanitize=address ] && too_random_for_sanitizers; then
		echo "not tested: $flags, addresses are too random for it"
		continue
	fi
	for level in -O0 -O2; do
		# shellcheck disable=SC2086
		gcc $level -fno-ipa-icf -o entries entries.c $flags 2>/dev/null || {
			echo "not built here: $flags"
			continue
		}
		rm -f gmon.out
		# LeakSanitizer's thread shares our state: its calls may be lost
		ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 assert_same_as_native ./entries
		assert_complete profile
		dump_table profile
		assert_eq 100 "$(row table calls leaf)" "calls of leaf with $level $flags"
		assert_eq 1 "$(row table calls middle)" "calls of middle with $level $flags"
	done
done
# these look at their return address, by what is called or jumped to
for flags in -finstrument-functions \
	'-mfunction-return=thunk -fcf-protection=none'; do
	# shellcheck disable=SC2086
	gcc -O2 -o entries entries.c $flags || continue
	assert_same_as_native ./entries
	assert_complete profile
done

it 'stacks that grow by segments, also in the large code model'
cat >segments.c <<'END'
#include <stdio.h>
__attribute__((noinline)) long deep(long n)
{
	volatile char room[600];

	room[n % 600] = (char)n;
	return n ? deep(n - 1) + room[n % 600] : 7;
}
int main(void)
{
	long sum = 0;

	for (int i = 0; i < 20; i++)
		sum += deep(i * 20);
	printf("%ld\n", sum);
	return 0;
}
END
for flags in '' '-mcmodel=large'; do
	for level in -O0 -O2; do
		# shellcheck disable=SC2086
		gcc $level -fsplit-stack -o segments segments.c $flags &&
			./segments >/dev/null || {
			echo "not built here: -fsplit-stack $flags"
			continue
		}
		for stripped in '' yes; do
			[ -z "$stripped" ] || strip segments
			assert_same_as_native ./segments
			assert_complete profile
			[ -n "$stripped" ] || assert_calls profile deep 3820
		done
	done
done

it 'labels near the start of a function, whose addresses are in the code'
cat >printable.c <<'END'
#include <stdio.h>

__attribute__((noinline)) int label(int n, void *volatile *to)
{
	int sum = n;

again:
	sum += 3;
	*to = n & 1 ? &&again : &&other;
	n -= 3;
	if (n < 0)
		return sum;
	goto **to;
other:
	sum -= 2;
	*to = &&again;
	n--;
	goto **to;
}

/* by distances, as GCC's manual has it */
__attribute__((noinline)) int distance(int n, const unsigned char *code)
{
	static const int to[] = {&&add - &&end, &&sub - &&end, &&end - &&end};
	int sum = n;

add:
	sum += 3;
	goto *(&&end + to[*code++]);
sub:
	sum -= 1;
	goto *(&&end + to[*code++]);
end:
	return sum;
}

int main(void)
{
	void *volatile to;
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += label(i, &to) +
		       distance(i, (const unsigned char[]){0, 1, i % 2, 0, 2});
	printf("%d\n", sum);
	return 0;
}
END
for flags in '-fPIE -pie' '-fPIE -pie -Os' '-fno-pie -no-pie' '-fno-pie -no-pie -Os' \
	'-fno-pie -no-pie -O1' '-fPIE -pie -mcmodel=large'; do
	# shellcheck disable=SC2086
	gcc -O2 -fcf-protection=none -o labels printable.c $flags || continue
	assert_same_as_native ./labels
	assert_complete profile
	assert_calls profile main 1
done

it 'tables of labels with 32 bits each, at a fixed address'
cat >narrow.S <<'END'
	.section .note.GNU-stack, "", @progbits
	.text
	.balign	16
	.globl	narrow
	.type	narrow, @function
narrow:	.cfi_startproc
	xorl	%eax, %eax
1:	leal	3(%rdi), %eax
2:	ret
	.cfi_endproc
	.size	narrow, . - narrow
	.balign	16
	.globl	enter
	.type	enter, @function
enter:	.cfi_startproc
	movl	table(, %rsi, 4), %eax
	jmp	*%rax
	.cfi_endproc
	.size	enter, . - enter
	.section .rodata
	.balign	8
	.long	0
table:	.long	1b, 2b, 1b
END
cat >narrow.c <<'END'
#include <stdio.h>

long narrow(long n), enter(long n, long which);

int main(void)
{
	long sum = 0;

	for (int i = 0; i < 10; i++)
		sum += narrow(i) + enter(i, 0) + enter(i, 2);
	printf("%ld\n", sum);
	return 0;
}
END
for flags in '' -Wl,-z,noseparate-code; do
	# shellcheck disable=SC2086
	gcc -O1 -no-pie -fno-pie -o narrow narrow.c narrow.S $flags ||
		abort 'narrow is not built'
	assert_same_as_native ./narrow
	assert_complete profile
	assert_calls profile narrow 10
	assert_calls profile enter 20
done

it 'what looks like an entry behind a table of labels, and what is one'
cat >behind.S <<'END'
	.section .note.GNU-stack, "", @progbits
	.text
	.balign	16
	.globl	behind
	.type	behind, @function
behind:	.cfi_startproc
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	movl	%edi, %ebx
	subq	$16, %rsp
	.cfi_adjust_cfa_offset 16
	cmpl	$1, %ebx
	ja	3f
	leaq	two_labels(%rip), %rdx
	movslq	(%rdx, %rbx, 4), %rax
	addq	%rdx, %rax
	jmp	*%rax
1:	movl	$10, %eax
	jmp	4f
2:	movl	$20, %eax
	jmp	4f
3:	movl	$30, %eax
4:	addq	$16, %rsp
	.cfi_adjust_cfa_offset -16
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	behind, . - behind
	.section .rodata
	.balign	4
two_labels:
	.long	1b - two_labels, 2b - two_labels
	.long	behind + 1 - two_labels, behind + 3 - two_labels

	.text
	.balign	16
	.globl	again
	.type	again, @function
again:	.cfi_startproc
	xorl	%eax, %eax
1:	addl	$1, %eax
	leaq	three_labels(%rip), %rdx
	xorl	%ecx, %ecx
	subl	$1, %edi
	sets	%cl
	movslq	4(%rdx, %rcx, 4), %rcx
	addq	%rdx, %rcx
	jmp	*%rcx
2:	ret
	pushq	%rax
	.cfi_adjust_cfa_offset 8
3:	popq	%rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	again, . - again
	.section .rodata
	.balign	4
three_labels:				/* nobody goes by the first */
	.long	3b - three_labels, 1b - three_labels, 2b - three_labels
END
cat >behind.c <<'END'
#include <stdio.h>

int behind(int which), again(int times);

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += behind(i) + again(i);
	printf("%d\n", sum);
	return 0;
}
END
for flags in -pie '-no-pie -fno-pie'; do
	# shellcheck disable=SC2086
	gcc -O1 $flags -o behind behind.c behind.S || abort 'behind is not built'
	assert_same_as_native ./behind
	assert_complete profile
	assert_calls profile main 1 behind 10
done

it 'where a table of labels ends, and the next one begins'
# The second table's first entry, counted from the first table, leads to the
# second byte of `beside`; the last of `amid`'s, whose address is taken besides,
# is its own.
cat >beside.S <<'END'
	.section .note.GNU-stack, "", @progbits
	.text
	.balign	16
	.globl	beside
	.type	beside, @function
beside:	.cfi_startproc
	leal	1(%rdi), %eax
	cmpl	$1, %edi
	ja	4f
1:	leaq	first_labels(%rip), %rdx	/* behind 8 bytes, as a table has */
	movslq	(%rdx, %rdi, 4), %rcx
	addq	%rdx, %rcx
	jmp	*%rcx
2:	addl	$10, %eax
	leaq	second_labels(%rip), %rdx
	movslq	(%rdx, %rsi, 4), %rcx
	addq	%rdx, %rcx
	jmp	*%rcx
3:	addl	$20, %eax
4:	ret
5:	addl	$30, %eax
	ret
	.cfi_endproc
	.size	beside, . - beside
	.section .rodata
	.balign	4
first_labels:
	.long	2b - first_labels, 3b - first_labels
second_labels:
	.long	1b + 1 - second_labels, 5b - second_labels

	.text
	.balign	16
	.globl	amid
	.type	amid, @function
amid:	.cfi_startproc
	xorl	%eax, %eax
1:	addl	$1, %eax
	leaq	last_label(%rip), %rcx
	movslq	(%rcx), %rcx
	addl	%ecx, %eax
	subl	%ecx, %eax
	leaq	own_labels(%rip), %rdx
	xorl	%ecx, %ecx
	subl	$1, %edi
	setns	%cl
	movslq	(%rdx, %rcx, 4), %rcx
	addq	%rdx, %rcx
	jmp	*%rcx
2:	ret
	.cfi_endproc
	.size	amid, . - amid
	.section .rodata
	.balign	4
own_labels:
	.long	2b - own_labels
last_label:
	.long	1b - own_labels
END
cat >beside.c <<'END'
#include <stdio.h>

int beside(long which, long next), amid(int times);

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += beside(i, 1) + amid(i);
	printf("%d\n", sum);
	return 0;
}
END
for flags in -pie '-no-pie -fno-pie'; do
	# shellcheck disable=SC2086
	gcc -O1 $flags -o beside beside.c beside.S || abort 'beside is not built'
	assert_same_as_native ./beside
	assert_complete profile
	assert_calls profile main 1 beside 10
	"$RUN" -q --list -v ./beside >list
	assert_matches list ' patched +beside$'
	! grep -E ' patched +amid$' list || fail 'amid has a plain jump'
done

it 'arrays of more than 2 GiB'
cat >arrays.c <<'END'
#include <stdio.h>
static char last[256], first[BYTES];
__attribute__((noinline)) int near_end(void)
{
	return ++last[0]; /* as the first thing that it does */
}
__attribute__((noinline)) int store(int n)
{
	first[(BYTES / 16) * n] = (char)n;
	return first[1] + n;
}
#ifndef LIBRARY
int main(void)
{
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += store(i) + near_end();
	printf("%d\n", sum);
	return 0;
}
#endif
END
while read -r bytes patched flags; do
	# shellcheck disable=SC2086
	gcc -O1 -DBYTES=$bytes -o arrays arrays.c $flags && ./arrays >/dev/null || {
		echo "not built or run here: $bytes bytes $flags"
		continue
	}
	for cache in --no-cache --cache --cache; do # the last finds a plan
		RUN_OPTIONS=("$cache")
		assert_same_as_native ./arrays
		assert_complete profile
		"$DUMP" -q -f text profile >table_of_arrays
		for name in main store near_end; do
			expected=10
			[ $name = main ] && expected=1
			[ $name = near_end ] && [ "$patched" -eq 2 ] && expected=
			assert_eq "$expected" "$(awk -v name=$name \
				'$(NF - 1) == name { print $1 }' table_of_arrays)" \
				"$name, $cache"
		done
	done
	RUN_OPTIONS=()
done <<'END'
3221225472L 3 -mcmodel=medium -fno-pie -no-pie
3221225472L 3 -mcmodel=medium -fPIE -pie
3221225472L 3 -mcmodel=large -fno-pie -no-pie
2080374784L 3 -fno-pie -no-pie
2147463168L 2 -fPIE -pie
1500000000L 3 -fPIE -pie
END

finish
