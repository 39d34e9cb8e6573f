/* build: -O2 -pthread -fno-inline -fno-optimize-sibling-calls -fno-ipa-cp
 * -fno-ipa-pure-const */
/* Stacks that are switched: fibers MODE ucontext|asm|made [N [ROUNDS]]. asm: by
 * hand; made: the same, and the first frame was called by code made at run time
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "memory.h"

struct fiber {
	char *stack;
	size_t bytes;
	ucontext_t *context, *resumer;
	void *sp, *resumer_sp;
	long id, rounds, sum;
	unsigned random;
	bool done;
	struct fiber *next, *starts; /* in place of yielding, once */
};

static bool by_hand;
static void *first_caller; /* nobody: NULL */
static long stack_bytes = 1 << 16;
static long most = 3; /* hooked frames below a fiber's first when it yields */
static volatile long sink;
static _Thread_local struct fiber *current;

/* The other stack's return address is popped by this one's `ret`. */
void switch_stacks(void **save, void *load);
__asm__(".text\n"
	".globl switch_stacks\n"
	".type switch_stacks, @function\n"
	"switch_stacks:\n"
	"	.cfi_startproc\n"
	"	pushq	%rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq	%rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq	%r12\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq	%r13\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq	%r14\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq	%r15\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	movq	%rsp, (%rdi)\n"
	"	movq	%rsi, %rsp\n"
	"	popq	%r15\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq	%r14\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq	%r13\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq	%r12\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq	%rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq	%rbp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size switch_stacks, . - switch_stacks\n");

/* The thread may be another one after a switch: never keep its address. */
static struct fiber *running(void)
{
	__asm__ volatile("");
	return current;
}

static void set_running(struct fiber *fiber)
{
	__asm__ volatile("");
	current = fiber;
}

static void start_next(struct fiber *self)
{
	struct fiber *other = self->starts;

	self->starts = NULL;
	other->resumer = self->resumer;
	other->resumer_sp = self->resumer_sp;
	set_running(other);
	if (by_hand)
		switch_stacks(&self->sp, other->sp);
	else
		swapcontext(self->context, other->context);
}

void yield_now(void)
{
	struct fiber *self = running();

	if (self->starts)
		start_next(self);
	else if (by_hand)
		switch_stacks(&self->sp, self->resumer_sp);
	else
		swapcontext(self->context, self->resumer);
}

void resume(struct fiber *fiber)
{
	ucontext_t here;

	set_running(fiber);
	if (by_hand) {
		switch_stacks(&fiber->resumer_sp, fiber->sp);
	} else {
		fiber->resumer = &here;
		swapcontext(&here, fiber->context);
	}
}

long work(long n)
{
	sink = n;
	return n + 1;
}

long below(long depth, long n)
{
	long sum;

	if (!depth) {
		yield_now();
		return work(n);
	}
	sum = below(depth - 1, n);
	sink = depth;
	return sum + 1;
}

/* Yields from anywhere between frames of several shapes. */
long walk(struct fiber *self, long depth);

static long at_random(struct fiber *self)
{
	self->random = self->random * 1103515245 + 12345;
	return (long)(self->random >> 16 & 0xff);
}

long turn_left(struct fiber *self, long depth)
{
	long sum = 1;

	if (at_random(self) % 8 == 0)
		yield_now();
	if (depth)
		sum += walk(self, depth - 1);
	if (depth && at_random(self) % 8 == 0)
		sum += walk(self, depth / 2);
	return sum;
}

long turn_right(struct fiber *self, long depth)
{
	long sum = work(depth);

	if (depth && at_random(self) & 1)
		sum += walk(self, depth - 1);
	else if (depth)
		sum += turn_left(self, depth - 1);
	yield_now();
	return sum + 1;
}

long walk(struct fiber *self, long depth)
{
	long sum = work(depth);

	if (depth)
		sum += at_random(self) & 1 ? turn_left(self, depth - 1)
					   : turn_right(self, depth - 1);
	if (at_random(self) % 4 == 0)
		yield_now();
	return sum + work(sum & 7);
}

static bool walking;

void fiber_main(void)
{
	struct fiber *self = running();

	for (long i = 0; i < self->rounds; i++)
		self->sum += walking ? walk(self, at_random(self) % 12)
				     : below(most, i + self->id);
	self->done = true;
	yield_now();
	abort();
}

static char *map_stack(size_t bytes)
{
	char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED) {
		puts("no stack");
		exit(1);
	}
	return stack;
}

static void prepare(struct fiber *fiber, char *stack, size_t bytes, long id,
		    long rounds)
{
	ucontext_t *context = fiber->context;

	memset(fiber, 0, sizeof(*fiber));
	fiber->stack = stack;
	fiber->bytes = bytes;
	fiber->id = id;
	fiber->rounds = rounds;
	fiber->random = (unsigned)id;
	if (by_hand) {
		void **top = (void **)(stack + bytes);

		*--top = first_caller;
		*--top = NULL;
		*--top = (void *)fiber_main;
		fiber->sp = memset(top - 6, 0, 6 * sizeof(*top));
		return;
	}
	fiber->context = context ? context : malloc(sizeof(*context));
	getcontext(fiber->context);
	fiber->context->uc_stack.ss_sp = stack;
	fiber->context->uc_stack.ss_size = bytes;
	fiber->context->uc_link = NULL;
	makecontext(fiber->context, fiber_main, 0);
}

static struct fiber *make(long count, long rounds)
{
	struct fiber *fibers = calloc((size_t)count, sizeof(*fibers));
	char *stacks = map_stack((size_t)(count * stack_bytes));

	for (long i = 0; i < count; i++)
		prepare(&fibers[i], stacks + i * stack_bytes,
			(size_t)stack_bytes, i, rounds);
	return fibers;
}

static long sum_of(const struct fiber *fibers, long count)
{
	long sum = 0;

	for (long i = 0; i < count; i++)
		sum += fibers[i].sum + fibers[i].done;
	return sum;
}

/* On the stack of who resumes them. */
long between(long i)
{
	sink = i;
	return i;
}

/* Round robin. */
void switching(struct fiber *fibers, long count, long rounds)
{
	for (long r = 0; r <= rounds; r++)
		for (long i = 0; i < count; i++) {
			resume(&fibers[i]);
			between(i);
		}
	printf("%ld\n", sum_of(fibers, count));
}

/* Each starts the next one, and the last goes back to who started the first:
 * until then, no frame returns on any stack. */
static void relaying(long count, long rounds)
{
	struct fiber *fibers = make(count, rounds);

	for (long i = 0; i + 1 < count; i++)
		fibers[i].starts = &fibers[i + 1];
	resume(&fibers[0]);
	between(0);
	switching(fibers, count, rounds - 1);
}

/* --- resumed by any thread --- */

static struct fiber *queue, **queue_end = &queue;
static long unfinished;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct fiber *take(void)
{
	struct fiber *fiber;

	pthread_mutex_lock(&lock);
	fiber = queue;
	if (fiber) {
		queue = fiber->next;
		if (!queue)
			queue_end = &queue;
	}
	pthread_mutex_unlock(&lock);
	return fiber;
}

static void put(struct fiber *fiber)
{
	pthread_mutex_lock(&lock);
	fiber->next = NULL;
	*queue_end = fiber;
	queue_end = &fiber->next;
	pthread_mutex_unlock(&lock);
}

static void *resumer(void *unused)
{
	struct fiber *fiber;

	while (__atomic_load_n(&unfinished, __ATOMIC_ACQUIRE)) {
		fiber = take();
		if (!fiber)
			continue;
		resume(fiber);
		if (fiber->done)
			__atomic_fetch_sub(&unfinished, 1, __ATOMIC_RELEASE);
		else
			put(fiber);
	}
	return unused;
}

static void migrating(long count, long rounds)
{
	struct fiber *fibers = make(count, rounds);
	pthread_t threads[4];

	unfinished = count;
	for (long i = 0; i < count; i++)
		put(&fibers[i]);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, resumer, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", sum_of(fibers, count));
}

/* By threads that end soon, and leave frames of theirs behind. */
static void *brief_resumer(void *much)
{
	long left = (long)much;
	struct fiber *fiber;

	while (left-- && (fiber = take()) != NULL) {
		resume(fiber);
		if (fiber->done)
			__atomic_fetch_sub(&unfinished, 1, __ATOMIC_RELEASE);
		else
			put(fiber);
	}
	return NULL;
}

static void scattering(long count, long rounds)
{
	struct fiber *fibers;
	pthread_t threads[4];
	long much = 0;

	walking = true;
	fibers = make(count, rounds);
	unfinished = count;
	for (long i = 0; i < count; i++)
		put(&fibers[i]);
	while (__atomic_load_n(&unfinished, __ATOMIC_ACQUIRE)) {
		for (int i = 0; i < 4; i++) {
			much = (much + 397) % 2000;
			pthread_create(&threads[i], NULL, brief_resumer,
				       (void *)(200 + much));
		}
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	printf("%ld\n", sum_of(fibers, count));
}

/* --- resumed by threads that follow one another --- */

long deep(long depth)
{
	long sum = depth ? deep(depth - 1) : work(depth);

	sink = depth;
	return sum;
}

struct inheritance {
	struct fiber *fibers;
	long count;
};

static void *heir(void *argument)
{
	const struct inheritance *all = argument;

	deep(1000);
	for (long i = 0; i < all->count; i++)
		resume(&all->fibers[i]);
	deep(1000);
	return NULL;
}

static void inheriting(long count, long rounds)
{
	struct inheritance all = {make(count, rounds), count};
	pthread_t thread;

	for (long r = 0; r <= rounds; r++) {
		pthread_create(&thread, NULL, heir, &all);
		pthread_join(thread, NULL);
	}
	printf("%ld\n", sum_of(all.fibers, count));
}

/* --- never resumed --- */

/* Each is left suspended, its stack unmapped, or (same) taken for the next. */
static void abandoning(long count, bool same)
{
	struct fiber fiber = {0};
	long memory = 0, code = 0;
	char *stack = map_stack((size_t)stack_bytes);

	for (long i = 0; i < count; i++) {
		if (i == count / 4) {
			memory = resident_kb();
			code = made_code_kb();
		}
		prepare(&fiber, stack, (size_t)stack_bytes, i, 10);
		for (int r = 0; r < 3; r++)
			resume(&fiber);
		if (!same) {
			munmap(stack, (size_t)stack_bytes);
			stack = map_stack((size_t)stack_bytes);
		}
	}
	say_growth(memory, 4096);
	say_code_growth(code, 1024);
}

/* Many, each begun anew on its stack again and again, faster than what is left
 * there is looked for at leisure. */
static void leaving(long count, long times)
{
	struct fiber *fibers = make(count, 1);

	for (long t = 0; t < times; t++)
		for (long i = 0; i < count; i++) {
			struct fiber *f = &fibers[i];

			most = 1 + (i + t) % 12;
			prepare(f, f->stack, f->bytes, i, 1);
			resume(f);
		}
	say_code_growth(0, 64L << 10);
}

/* All alive at once, and again with what the ones before gave back. */
static void many(long count, long passes)
{
	long code = 0;

	for (long pass = 0; pass < passes; pass++) {
		struct fiber *fibers = make(count, 1);

		for (int r = 0; r <= 1; r++)
			for (long i = 0; i < count; i++)
				resume(&fibers[i]);
		printf("%ld\n", sum_of(fibers, count));
		munmap(fibers[0].stack, (size_t)(count * stack_bytes));
		free(fibers);
		if (!pass)
			code = made_code_kb();
	}
	/* what gave nothing back would grow by `code` in each further pass; a
	 * sweep is put off as long as it would take too much of the time, and
	 * code is made in advance, a quarter of what there is */
	say_code_growth(code, 3 * code);
}

long dive(long depth)
{
	long sum = depth ? dive(depth - 1) : work(depth);

	sink = sum;
	return sum + 1;
}

/* Frames enough for all to be looked at, and what is gone to be used again. */
static void dive_often(void)
{
	for (long i = 1; i <= 20; i++) {
		dive(20 * i);
		usleep(2000);
	}
}

/* The child resumes what was suspended in its parent. SEALED: until then no
 * stack of a fiber may be read. */
static void forking(long count, long rounds, bool sealed)
{
	struct fiber *fibers = make(count, rounds);
	int status = 0;
	pid_t pid;

	for (long i = 0; i < count; i++)
		resume(&fibers[i]);
	fflush(stdout);
	if (sealed)
		mprotect(fibers[0].stack, (size_t)(count * stack_bytes),
			 PROT_NONE);
	pid = fork();
	if (sealed) {
		dive_often();
		mprotect(fibers[0].stack, (size_t)(count * stack_bytes),
			 PROT_READ | PROT_WRITE);
	}
	for (long r = 0; r < rounds; r++)
		for (long i = 0; i < count; i++)
			resume(&fibers[i]);
	if (pid) {
		waitpid(pid, &status, 0);
		printf("child: %d\n", status);
	}
	printf("%ld\n", sum_of(fibers, count));
}

/* --- contexts without a stack of their own --- */

static ucontext_t again;

void go_back(long depth)
{
	if (!depth)
		setcontext(&again);
	go_back(depth - 1);
	sink = depth;
}

/* Comes back to getcontext n times, each time out of ten frames. */
static void looping(long count)
{
	volatile long i = 0, sum = 0;
	long memory = resident_kb();
	long code = made_code_kb();

	getcontext(&again);
	sum += work(i);
	if (++i <= count)
		go_back(9);
	printf("%ld\n", sum);
	say_growth(memory, 4096);
	say_code_growth(code, 1024);
}

static long n[2];
static struct fiber *made;

static void *in_thread(void *unused)
{
	switching(made ? made : make(n[0], n[1]), n[0], n[1]);
	return unused;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "switch";
	pthread_t thread;

	n[0] = argc > 3 ? atol(argv[3]) : 10;
	n[1] = argc > 4 ? atol(argv[4]) : 100;
	by_hand = argc > 2 && argv[2][0] != 'u';
	if (argc > 2 && argv[2][0] == 'm')
		first_caller = (char *)mmap(NULL, 4096, PROT_READ | PROT_EXEC,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1,
					    0) +
			       64;
	if (!strcmp(mode, "tall"))
		most = 200;
	if (!strcmp(mode, "switch") || !strcmp(mode, "tall")) {
		switching(make(n[0], n[1]), n[0], n[1]);
	} else if (!strcmp(mode, "relay")) {
		relaying(n[0], n[1]);
	} else if (!strcmp(mode, "thread") || !strcmp(mode, "above")) {
		/* stacks of before lie above the thread's, in one mapping */
		if (mode[0] == 'a')
			made = make(n[0], n[1]);
		pthread_create(&thread, NULL, in_thread, NULL);
		pthread_join(thread, NULL);
	} else if (!strcmp(mode, "migrate")) {
		migrating(n[0], n[1]);
	} else if (!strcmp(mode, "scatter")) {
		scattering(n[0], n[1]);
	} else if (!strcmp(mode, "inherit")) {
		inheriting(n[0], n[1]);
	} else if (!strcmp(mode, "destroy") || !strcmp(mode, "same")) {
		abandoning(n[0], mode[0] == 's');
	} else if (!strcmp(mode, "leave")) {
		leaving(n[0], n[1]);
	} else if (!strcmp(mode, "many")) {
		stack_bytes = by_hand ? 2048 : 4096;
		many(n[0], n[1]);
	} else if (!strcmp(mode, "fork") || !strcmp(mode, "sealed")) {
		forking(n[0], n[1], mode[0] == 's');
	} else if (!strcmp(mode, "loop")) {
		looping(n[0]);
	} else {
		return 2;
	}
	return 0;
}
