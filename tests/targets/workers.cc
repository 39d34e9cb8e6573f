// build: -g -pthread -fno-optimize-sibling-calls
/* Four threads that call the same functions, thread k (k + 1) * 10 times what
 * round() calls: overloads, a template, direct and mutual recursion, calls in
 * inlined code, exceptions.
 *
 * Calls for one round:  round 1, price(int) 1 (inlined) + 2, price(double) 1,
 * twice<int> 1, twice<long> 1, countdown 5 (4 of them recursive), even 3,
 * odd 2 (of even(4)), refuse 1 (ends by an exception), basket::add 1. */

#include <pthread.h>
#include <stdexcept>

#define APART __attribute__((noipa))

namespace shop
{
volatile long sum;

APART int price(int n)
{
	sum = sum + n;
	return n;
}

APART double price(double n)
{
	sum = sum + static_cast<long>(n);
	return n;
}

template <typename T> APART T twice(T n)
{
	sum = sum + n;
	return n + n;
}

APART int countdown(int n)
{
	sum = sum + n;
	return n ? countdown(n - 1) + 1 : 0;
}

bool odd(unsigned n);

APART bool even(unsigned n)
{
	sum = sum + 1;
	return n ? odd(n - 1) : true;
}

APART bool odd(unsigned n)
{
	sum = sum + 1;
	return n ? even(n - 1) : false;
}

APART void refuse(int n)
{
	if (n >= 0)
		throw std::runtime_error("no");
}

struct basket {
	long total = 0;
	APART void add(int n)
	{
		total += price(n) + price(n + 1);
	}
};

static inline __attribute__((always_inline)) int discounted(int n)
{
	return price(n) - 1; /* the inlined call */
}

APART void round(int n)
{
	basket b;

	sum = sum + discounted(n);
	sum = sum + static_cast<long>(price(1.5));
	b.add(n);
	sum = sum + twice(n) + twice(static_cast<long>(n));
	sum = sum + countdown(4) + even(4);
	try {
		refuse(n);
	} catch (const std::exception &) {
		sum = sum + 1;
	}
}
} // namespace shop

static void *work(void *argument)
{
	static const char *const names[] = {"worker-0", "worker-1", "worker; 2",
					    "worker \"3\""};
	int number = *static_cast<int *>(argument);

	pthread_setname_np(pthread_self(), names[number]);
	for (int i = 0; i < (number + 1) * 10; i++)
		shop::round(i);
	return nullptr;
}

int main()
{
	int numbers[] = {0, 1, 2, 3};
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], nullptr, work, &numbers[i]);
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	return 0;
}
