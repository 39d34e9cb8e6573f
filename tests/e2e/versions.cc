/* A program in two versions, for test_diff.sh. With -DLATER it is the later
 * one: functions are new, gone or have another name, work() does more and is
 * called from other lines, and there are other threads. Each is built from this
 * file twice, once with -DPART: both halves have a static helper(). */

#include <pthread.h>

#define APART __attribute__((noipa))

static volatile long sum;

void other_half(int rounds);

#ifdef LATER
static APART void added(long n)
{
	sum = sum + n;
}
#endif

static APART void helper(long n)
{
	sum = sum + n;
}

#ifdef PART
void other_half(int rounds)
{
	for (int i = 0; i < rounds; i++)
		helper(i);
#ifdef LATER
	added(rounds);
#endif
}
#else

namespace shop
{
/* Of these the first version calls one only. */
APART void price(int n)
{
	sum = sum + n;
}

APART void price(double n)
{
	sum = sum + static_cast<long>(n);
}

static APART void work(long rounds)
{
	for (long i = 0; i < rounds; i++)
		sum = sum + i;
}

#ifdef LATER
static APART void after(long n)
#else
static APART void before(long n)
#endif
{
	work(n);
}

#ifndef LATER
static APART void removed(long n)
{
	work(n);
}
#endif

static APART void recursive(int n)
{
	if (n > 0)
		recursive(n - 1);
}
} // namespace shop

/* Rounds: 10. */
static APART void *thread(void *)
{
	for (int i = 0; i < 10; i++) {
		shop::price(i);
#ifdef LATER
		helper(i);
		shop::price(0.5);
		shop::work(40000);
		shop::after(20);
		added(i);
#else
		shop::work(100);
		shop::before(20);
		shop::removed(20);
#endif
		shop::work(10);
		shop::recursive(3);
	}
#ifdef LATER
	other_half(7);
#else
	other_half(5);
#endif
	return nullptr;
}

static APART void named(const char *name)
{
	pthread_t id;

	pthread_create(
		&id, nullptr,
		[](void *argument) -> void * {
			pthread_setname_np(pthread_self(),
					   static_cast<const char *>(argument));
			return thread(nullptr);
		},
		const_cast<char *>(name));
	pthread_join(id, nullptr);
}

int main()
{
	thread(nullptr);
	named("helper");
#ifdef LATER
	named("helper");
	named("late");
#else
	named("early");
#endif
	return 0;
}
#endif
