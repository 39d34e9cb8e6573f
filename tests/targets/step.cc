// build: -O2 -fno-inline -fno-ipa-pure-const -fno-optimize-sibling-calls
// -fnon-call-exceptions -fasynchronous-unwind-tables The program for
// tests/targets/stepper.c, which delivers SIGUSR1 at every instruction that
// lies between its marks:
// step return|single|jump|throw|fork own|alt
// warm|fresh|siblings|tail|chain|leap|deep|flood|load|late|pit|pits
// [STRIDE] (single: one signal at each call of the work, else as return; pit,
// pits: behind an exception that passes the work; fork: only at each STRIDE-th
// instruction, and a child goes on, too)
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define KEEP __attribute__((noinline, noclone))
// Their number is in the profile; those that only the test needs are not.
#define COUNTED extern "C" KEEP

enum { ALL = 1, ONE = 2, STOP = 3, HANDLED = 4, HANDLER = 5 };

// What the stepper sees: int3 with a magic number in rax.
static void mark(long command, long a, long b)
{
	long magic = 0x53544550;

	asm volatile("int3; xor %%eax, %%eax"
		     : "+a"(magic)
		     : "D"(command), "S"(a), "d"(b)
		     : "memory");
}

static long depth = 5; // the argument of what is stepped through
static volatile long sink, handled, wrong, destroyed, attempts, pits;
static const char *how;
static sigjmp_buf back;

// ------------------------------------------------------------ what is stepped

COUNTED long leaf(long n)
{
	sink = n;
	return n + 1;
}

struct guard {
	~guard()
	{
		destroyed = destroyed + 1;
	}
};

COUNTED long middle(long n)
{
	return leaf(n) + leaf(n + 1);
}

COUNTED long guarded(long n)
{
	guard g;
	return middle(n) + 1;
}

COUNTED __attribute__((optimize("optimize-sibling-calls"))) long jumper(long n)
{
	return leaf(n + 1);
}

COUNTED __attribute__((optimize("optimize-sibling-calls"))) long second(long n)
{
	return jumper(n + 1);
}

COUNTED __attribute__((optimize("optimize-sibling-calls"))) long first(long n)
{
	return second(n + 1);
}

static jmp_buf there;

COUNTED void leaps()
{
	longjmp(there, 1);
}

COUNTED long leaper(long n)
{
	if (!_setjmp(there))
		leaps();
	return leaf(n);
}

COUNTED long down(long n)
{
	return n ? down(n - 1) + 1 : leaf(n);
}

static volatile bool throwing;

COUNTED long bottom(long n)
{
	if (throwing)
		throw 9;
	return n + 1;
}

COUNTED long pit(long n)
{
	__atomic_fetch_add(&pits, 1, __ATOMIC_RELAXED);
	return n ? pit(n - 1) + 1 : bottom(n);
}

extern "C" const char __executable_start, etext;

// Where it was called from is in this program.
COUNTED long loader(long n)
{
	const char *from = static_cast<char *>(__builtin_return_address(0));
	long result;

	asm volatile("" : "+b"(from)); // loaded before the call, behind a push
	result = leaf(n);
	if (from < &__executable_start || from >= &etext)
		wrong = wrong + 1;
	return result;
}

COUNTED long late_loader(long n)
{
	long result = leaf(n);
	const char *from = static_cast<char *>(__builtin_return_address(0));

	asm volatile("" : "+r"(from)); // loaded behind the call
	if (from < &__executable_start || from >= &etext)
		wrong = wrong + 1;
	return result;
}

// Each is called for the first time when it is stepped through.
template <int N> KEEP long fresh_function(long n)
{
	return leaf(n + N) - N;
}

// The same, with more places that call than a context has room for beside it.
template <int N> KEEP long fresh_siblings(long n)
{
	return leaf(n) + leaf(n + N) + leaf(n) + leaf(n) + leaf(n) + leaf(n) -
	       N - 5 * n - 5;
}

template <int N> KEEP long fresh_pit(long n)
{
	__atomic_fetch_add(&pits, 1, __ATOMIC_RELAXED);
	return n ? fresh_pit<N>(n - 1) + 1 : bottom(n);
}

typedef long function(long);
enum { FRESH = 256 };
static function *fresh[FRESH], *siblings[FRESH], *fresh_pits[FRESH];

template <int N> struct fill {
	static void all()
	{
		fresh[N - 1] = fresh_function<N - 1>;
		siblings[N - 1] = fresh_siblings<N - 1>;
		fresh_pits[N - 1] = fresh_pit<N - 1>;
		fill<N - 1>::all();
	}
};
template <> struct fill<0> {
	static void all()
	{
	}
};

static const char *which;
static function *work;

// What they add to their argument.
static const struct {
	const char *which;
	function *work;
	long more;
} works[] = {
	{"tail", jumper, 2},      {"chain", first, 4}, {"leap", leaper, 1},
	{"deep", down, 1},        {"flood", leaf, 1},  {"load", loader, 1},
	{"late", late_loader, 1}, {"pit", pit, 1},
};
static long more;

static void choose(long attempt)
{
	work = guarded;
	for (const auto &w : works)
		if (!strcmp(which, w.which)) {
			work = w.work;
			more = w.more;
		}
	if (!strcmp(which, "pits")) {
		depth = 2;
		work = fresh_pits[attempt % FRESH];
		more = 1;
	}
	if (!strcmp(which, "fresh") || !strcmp(which, "siblings")) {
		work = (which[0] == 'f' ? fresh : siblings)[attempt % FRESH];
		more = 1;
	}
}

static long expected(long n)
{
	return work == guarded ? 2 * n + 4 : n + more;
}

// ----------------------------------------------------------------- the handler

extern "C" int main(int argc, char **argv);

struct walk {
	int frames, mains;
};

// The walk has to reach main, whatever was interrupted.
static _Unwind_Reason_Code visit(_Unwind_Context *context, void *data)
{
	walk *w = static_cast<walk *>(data);
	void *start = _Unwind_FindEnclosingFunction(
		reinterpret_cast<void *>(_Unwind_GetIP(context)));

	w->frames++;
	if (start == reinterpret_cast<void *>(main))
		w->mains++;
	return w->frames > 200 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

COUNTED long in_handler(long n)
{
	return leaf(n) - 1;
}

// More calls than a trace holds before it packs them, while one of its hooks is
// not done.
enum { FLOOD = 20000 };

static void flood()
{
	for (long i = 0; i < FLOOD; i++)
		leaf(i);
}

// Of so many frames the first one of those that share a call site is not bared
// beforehand (src/runtime/hooks/latest_frame.c).
enum { UNEXPOSED = 15 };

static void throw_and_catch()
{
	throwing = true;
	try {
		work(UNEXPOSED);
		wrong = wrong + 1;
	} catch (int e) {
		wrong = wrong + (e != 9);
	}
	throwing = false;
}

static bool in_child;
static long stride = 1;

// Nobody steps through the child.
static void pass_mark(int)
{
}

// The child returns from the handler. (No signal says that it has ended.)
static void go_on_in_child()
{
	long child = syscall(SYS_clone, 0, 0, 0, 0, 0);
	int status = -1;

	if (child == 0) {
		in_child = true;
		wrong = 0;
		signal(SIGTRAP, pass_mark);
		return;
	}
	if (waitpid(static_cast<pid_t>(child), &status, __WALL) != child ||
	    status != 0) {
		wrong = wrong + 1;
		fprintf(stderr, "a child has ended with %x\n", status);
	}
}

static void on_signal(int, siginfo_t *, void *context)
{
	const ucontext_t *u = static_cast<ucontext_t *>(context);
	walk w = {};

	handled = handled + 1;
	if (in_handler(handled) != handled)
		wrong = wrong + 1;
	if (!strcmp(which, "flood"))
		flood();
	if (!strncmp(which, "pit", 3))
		throw_and_catch();
	_Unwind_Backtrace(visit, &w);
	if (w.mains != 1) {
		wrong = wrong + 1;
		fprintf(stderr, "main seen %d times, %d frames\n", w.mains,
			w.frames);
	}
	if (!strcmp(how, "fork")) {
		go_on_in_child();
		if (in_child)
			return;
	}
	if (!strcmp(how, "jump"))
		siglongjmp(back, 1);
	if (!strcmp(how, "throw"))
		throw 7;
	mark(HANDLED, u->uc_mcontext.gregs[REG_RIP],
	     u->uc_mcontext.gregs[REG_RSP]);
}

static void set_up(bool alternate)
{
	struct sigaction action = {};
	stack_t stack = {};

	stack.ss_size = 1 << 18;
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, nullptr);
	action.sa_sigaction = on_signal;
	action.sa_flags = SA_SIGINFO | (alternate ? SA_ONSTACK : 0) |
			  (strcmp(how, "throw") ? 0 : SA_NODEFER);
	sigaction(SIGUSR1, &action, nullptr);
	mark(HANDLER, reinterpret_cast<long>(on_signal), 0);
}

// ------------------------------------------------------------------- the modes

// The function that is called in the region that is stepped through.
static long stepped(long command, long n)
{
	long result;

	mark(command, n, 0);
	result = work(depth);
	mark(STOP, 0, 0);
	return result;
}

static void once()
{
	if (stepped(ALL, stride) != expected(depth))
		wrong = wrong + 1;
	if (in_child) {
		for (int i = 0; i < 3; i++)
			if (work(i) != expected(i) || guarded(i) != 2 * i + 4)
				wrong = wrong + 1;
		exit(wrong != 0);
	}
}

// At one instruction of each attempt, until the work ends undisturbed.
static void attempt_all(long step)
{
	volatile long before = -1, n;

	for (n = 0; before != handled; n = n + step) {
		before = handled;
		attempts = attempts + 1;
		choose(attempts);
		if (!strcmp(which, "pits"))
			work(UNEXPOSED); // there are free thunks
		if (!strcmp(how, "jump")) {
			if (sigsetjmp(back, 1) == 0 &&
			    stepped(ONE, n) != expected(depth))
				wrong = wrong + 1;
		} else {
			try {
				if (stepped(ONE, n) != expected(depth))
					wrong = wrong + 1;
			} catch (int e) {
				wrong = wrong + (e != 7);
			}
		}
		mark(STOP, 0, 0);
		if (work(6) != expected(6))
			wrong = wrong + 1;
	}
}

int main(int argc, char **argv)
{
	how = argc > 1 ? argv[1] : "return";
	which = argc > 3 ? argv[3] : "warm";
	fill<FRESH>::all();
	set_up(argc > 2 && !strcmp(argv[2], "alt"));
	choose(0);
	if (strcmp(which, "fresh") != 0 && strcmp(which, "siblings") != 0)
		work(6); // the edges are there
	stride = argc > 4 ? atol(argv[4]) : 1;
	if (!strcmp(how, "return") || !strcmp(how, "fork"))
		once();
	else
		attempt_all(stride);
	fprintf(stderr, "%ld handled %ld attempts %ld destroyed %ld pits\n",
		handled, attempts, destroyed, pits);
	printf("%ld wrong\n", wrong);
	return 0;
}
