// build: -Iinclude -pthread
// Spans as scope guards, left by exceptions, in threads that throw.

#include "swizzle.h"

#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline))

static thread_local volatile int sink;

NOINLINE void step(int n)
{
	sink = sink + n;
}

NOINLINE void fails(int n)
{
	swizzle::span span("attempt");
	step(1);
	if (n % 2)
		throw std::runtime_error("odd");
	step(2);
}

NOINLINE int request(int n)
{
	swizzle::span span("serve");
	try {
		fails(n);
	} catch (const std::exception &) {
		swizzle::span handling("handling");
		step(3);
		return 1;
	}
	return 0;
}

NOINLINE int quiet(int n)
{
	swizzle::pause pause;
	step(n);
	if (n % 2)
		throw std::runtime_error("odd");
	return 0;
}

int main()
{
	std::vector<std::thread> threads;
	int caught[4] = {};

	for (int t = 0; t < 4; t++)
		threads.emplace_back([t, &caught] {
			for (int i = 0; i < 500; i++) {
				caught[t] += request(i);
				try {
					quiet(i);
				} catch (const std::exception &) {
					caught[t]++;
				}
			}
		});
	for (auto &thread : threads)
		thread.join();
	std::printf("%d %d %d %d\n", caught[0], caught[1], caught[2],
		    caught[3]);
}
