// build: -fno-inline -fno-ipa-cp -fno-ipa-icf -fno-optimize-sibling-calls
// -pthread A recursion so deep that its frames go through the code of a leader
// (thunks/arena.h), and what may happen at its bottom, or half-way:
// `led DEPTH ROUNDS WHAT...` says how often each function was called. WHAT:
// "return"; "jump", longjmp to half-way, three times; "throw", the same by an
// exception, each frame with a destructor; "bare", without any; "walk", a back
// trace; "fiber", another stack with the same recursion, whose end comes before
// and after that of this one; "fork", a child that returns through all frames;
// "signal", a handler that recurses, too, and one that jumps half-way; "tail",
// each frame ends in a jump to another function; "thread", all that follows, in
// a second thread.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <pthread.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

static const char *what;
static long depth, rounds;
static struct counts {
	long down, half_way, bottom, other, end, handler, ended;
} counts;
static jmp_buf back;
static int times;
static ucontext_t here, there;
static bool in_fiber;

#define OPAQUE(v) __asm__ volatile("" : "+r"(v))

static inline bool is(const char *word)
{
	return strcmp(what, word) == 0;
}

struct guard {
	~guard()
	{
		counts.ended++;
	}
};

extern "C" {

long down(long n);
long other(long n);

__attribute__((noinline)) long bottom(long n)
{
	counts.bottom++;
	if (is("jump") && times) {
		times--;
		longjmp(back, 1);
	}
	if ((is("throw") || is("bare")) && times) {
		times--;
		throw 7;
	}
	if (is("walk")) {
		std::vector<void *> frames(2 * depth + 100);

		n += backtrace(frames.data(), (int)frames.size());
	}
	if (is("fiber") && !in_fiber) {
		in_fiber = true;
		swapcontext(&here, &there);
		in_fiber = false;
	} else if (is("fiber")) {
		swapcontext(&there, &here);
	}
	if (is("fork")) {
		fflush(stdout);
		if (fork() == 0) {
			counts.ended = getpid();
		} else {
			int status;

			wait(&status);
			n += status;
		}
	}
	if (is("signal")) {
		raise(SIGUSR1);
		if (times) {
			times--;
			raise(SIGUSR2);
		}
	}
	return n;
}

__attribute__((noinline)) void end(long n)
{
	counts.end++;
	OPAQUE(n);
}

__attribute__((noinline)) long other_end(long n)
{
	counts.end++;
	return n;
}

/* Of a frame that ends in a jump its thunk stands for both functions. */
__attribute__((noinline, optimize("optimize-sibling-calls"))) long tail(long n)
{
	long r;

	counts.other++;
	r = n ? tail(n - 1) : bottom(n);
	OPAQUE(r);
	return other_end(r + n);
}

__attribute__((noinline)) long half_way(long n)
{
	volatile long result = 0;

	counts.half_way++;
	times = 3;
	if (is("throw") || is("bare")) {
		for (;;)
			try {
				return down(n - 1) + result;
			} catch (int thrown) {
				result = result + thrown;
				end(n);
			}
	}
	if (is("jump") || is("signal"))
		if (sigsetjmp(back, 1)) {
			result = result + 1;
			end(n);
		}
	return down(n - 1) + result;
}

__attribute__((noinline)) long guarded(long n)
{
	guard g;

	counts.other++;
	return n == 0 ? bottom(0) : guarded(n - 1) + n;
}

__attribute__((noinline)) long down(long n)
{
	long r;

	counts.down++;
	if (n == 0)
		return is("throw") ? guarded(depth) : bottom(0);
	if (n == depth / 2)
		return half_way(n);
	r = down(n - 1);
	OPAQUE(r);
	if (n % 50 == 0)
		end(n);
	return r + n;
}

__attribute__((noinline)) long other(long n)
{
	counts.other++;
	if (n)
		n += other(n - 1);
	return n;
}

__attribute__((noinline)) void on_signal(int signal)
{
	counts.handler++;
	if (signal == SIGUSR2)
		siglongjmp(back, 1);
	OPAQUE(signal);
	other(40);
}

__attribute__((noinline)) void fiber(void)
{
	for (;;) {
		counts.other += down(depth) > 0;
		swapcontext(&there, &here);
	}
}

__attribute__((noinline)) long run(void)
{
	static char stack[8 << 20];
	long sum = 0;

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = nullptr;
	makecontext(&there, fiber, 0);
	for (long i = 0; i < rounds; i++) {
		sum += is("tail") ? tail(depth) : down(depth);
		if (is("fork") && counts.ended == getpid()) {
			printf("the child's sum %ld\n", sum);
			fflush(stdout);
			_exit(0);
		}
		if (is("fiber")) {
			/* it returns from all its frames, and begins again */
			swapcontext(&here, &there);
			in_fiber = false;
		}
	}
	return sum;
}

} // extern "C"

static void *run_all(void *words)
{
	for (char **word = static_cast<char **>(words); *word; word++) {
		what = *word;
		if (is("thread")) {
			pthread_t thread;

			pthread_create(&thread, nullptr, run_all, word + 1);
			pthread_join(thread, nullptr);
			return nullptr;
		}
		memset(&counts, 0, sizeof(counts));
		long sum = run();
		printf("%s sum %ld down %ld half_way %ld bottom %ld other %ld "
		       "end %ld handler %ld ended %ld\n",
		       what, sum, counts.down, counts.half_way, counts.bottom,
		       counts.other, counts.end, counts.handler, counts.ended);
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	depth = atol(argv[1]);
	rounds = atol(argv[2]);
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	run_all(argv + 3);
	return 0;
}
