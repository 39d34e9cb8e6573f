/* build: -O2 -fno-inline -fno-ipa-cp -fno-ipa-icf -ldl */
/* Tail calls: tailcalls loop|mutual|chain|library|dlsym|recursion */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A loop that jumps to the function's own first byte. */
long spin(long n);
__asm__(".text\n"
	".globl spin\n"
	".type spin, @function\n"
	"spin:\n"
	"	.cfi_startproc\n"
	"	movq	%rdi, %rax\n"
	"	decq	%rdi\n"
	"	jnz	spin\n"
	"	addq	$41, %rax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size spin, . - spin\n");

/* The same in two instructions: the branch lies in the bytes that a hook
 * replaces. */
long spin_short(long n);
__asm__(".globl spin_short\n"
	".type spin_short, @function\n"
	"spin_short:\n"
	"	.cfi_startproc\n"
	"	decq	%rdi\n"
	"	jnz	spin_short\n"
	"	movl	$7, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size spin_short, . - spin_short\n");

static volatile long sink;

long pong(long n);

long ping(long n)
{
	sink = n;
	return n ? pong(n - 1) : 17;
}

long pong(long n)
{
	sink = -n;
	return n ? ping(n - 1) : 18;
}

/* Two mutual tail recursions, and one call that is none on the way. */
long walk(long n, long unused);

long step(long n)
{
	sink = n;
	return n * 2;
}

long walk_on(long unused, long n)
{
	sink = unused;
	return walk(n, unused);
}

long walk(long n, long unused)
{
	if (!n)
		return unused;
	return walk_on(unused + step(n), n - 1);
}

/* 100 functions, each of which jumps to the next. */
#define CHAIN_END(n) \
	long chain_##n(long x) \
	{ \
		sink = x; \
		return x + n; \
	}
#define CHAIN(n, next) \
	long chain_##n(long x) \
	{ \
		sink = x + n; \
		return chain_##next(x + n); \
	}
#define TEN(t, next) \
	CHAIN(t##9, next) \
	CHAIN(t##8, t##9) \
	CHAIN(t##7, t##8) \
	CHAIN(t##6, t##7) \
	CHAIN(t##5, t##6) \
	CHAIN(t##4, t##5) \
	CHAIN(t##3, t##4) \
	CHAIN(t##2, t##3) \
	CHAIN(t##1, t##2) \
	CHAIN(t##0, t##1)

CHAIN_END(200)
TEN(19, 200)
TEN(18, 190)
TEN(17, 180)
TEN(16, 170)
TEN(15, 160)
TEN(14, 150)
TEN(13, 140)
TEN(12, 130)
TEN(11, 120)
TEN(10, 110)

/* A tail call into a library, that is hooked and that is not. */
size_t count_characters(const char *s)
{
	sink++;
	return strlen(s);
}

void say(const char *s)
{
	sink++;
	puts(s);
}

/* The library looks at its return address to know who calls. */
void *next_of(const char *name)
{
	sink++;
	return dlsym(RTLD_NEXT, name);
}

static int recursion(void)
{
	long sum = 0;

	/* a tail call under a tail call, again and again */
	for (int i = 0; i < 1000; i++)
		sum += walk(1000, 0);
	printf("%ld\n", sum);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "chain";
	long rounds = argc > 2 ? atol(argv[2]) : 1000;
	long sum = 0;

	if (!strcmp(mode, "recursion"))
		return recursion();
	if (!strcmp(mode, "loop")) {
		printf("%ld %ld\n", spin(rounds), spin_short(rounds));
	} else if (!strcmp(mode, "mutual")) {
		printf("%ld %ld\n", ping(rounds), ping(rounds - 1));
	} else if (!strcmp(mode, "library")) {
		for (long i = 0; i < rounds; i++)
			sum += (long)count_characters(argv[1]);
		say("a tail call into libc");
		printf("%ld\n", sum);
	} else if (!strcmp(mode, "dlsym")) {
		puts(next_of("malloc") ? "found" : dlerror());
		puts(next_of("no_such_thing") ? "found" : "not found");
	} else {
		for (long i = 0; i < rounds; i++)
			sum += chain_100(i);
		printf("%ld\n", sum);
	}
	return 0;
}
