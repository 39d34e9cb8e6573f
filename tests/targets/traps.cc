// build: -O2 -fno-inline -fnon-call-exceptions -fasynchronous-unwind-tables
// Instructions that fault in the first bytes of a function; the handler of the
// signal throws.
#include <csignal>
#include <cstdio>

static void on_fault(int)
{
	throw 7;
}

extern "C" {

// The very first instruction is in the range of a landing pad.
__attribute__((noipa)) int load_and_catch(const int *p)
{
	try {
		return *p;
	} catch (int e) {
		return e;
	}
}

__attribute__((noipa)) int load(const int *p)
{
	return *p;
}

__attribute__((noipa)) int catcher(const int *p)
{
	try {
		return load(p);
	} catch (int e) {
		return e + 1;
	}
}
}

int main()
{
	const int *volatile nowhere = nullptr;
	static const int one = 1;
	struct sigaction action = {};
	int sum = 0;

	action.sa_handler = on_fault;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGSEGV, &action, nullptr);
	for (int i = 0; i < 1000; i++) {
		sum += load_and_catch(i % 2 ? nowhere : &one);
		sum += catcher(i % 2 ? nowhere : &one);
	}
	printf("%d\n", sum);
	return 0;
}
