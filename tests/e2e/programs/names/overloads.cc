#include <pthread.h>
namespace {
volatile long n;
struct Sum {
	void add(int x);
	void add(long x);
	void add(double x);
};
}
__attribute__((noinline)) void Sum::add(int x) { n += x; }
__attribute__((noinline)) void Sum::add(long x) { n += x * 3; }
__attribute__((noinline)) void Sum::add(double x) { n += (long)x; }
static void *run(void *sum) { static_cast<Sum *>(sum)->add(1.0); return nullptr; }
int main()
{
	Sum sum;
	pthread_t thread;

	sum.add(1);
	sum.add(2L);
	pthread_create(&thread, nullptr, run, &sum);
	return pthread_join(thread, nullptr);
}
