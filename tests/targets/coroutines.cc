// build: -std=c++20 -O1 -fno-inline
// C++20 coroutines, whose frames are on the heap: finished, destroyed while
// suspended, left by an exception.
#include <coroutine>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>

static volatile long sink;

long work(long n)
{
	sink = n;
	return n + 1;
}

struct generator {
	struct promise_type {
		long value = 0;
		std::exception_ptr error;

		generator get_return_object()
		{
			return generator{std::coroutine_handle<
				promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend()
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(long v)
		{
			value = v;
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			error = std::current_exception();
		}
	};

	std::coroutine_handle<promise_type> handle;

	explicit generator(std::coroutine_handle<promise_type> h) : handle(h)
	{
	}
	generator(generator &&other) noexcept
	    : handle(std::exchange(other.handle, {}))
	{
	}
	generator(const generator &) = delete;
	~generator()
	{
		if (handle)
			handle.destroy();
	}
	bool next()
	{
		handle.resume();
		if (handle.promise().error)
			std::rethrow_exception(handle.promise().error);
		return !handle.done();
	}
};

struct guard {
	~guard()
	{
		work(0);
	}
};

static generator count_up(long n, bool fail)
{
	guard cleanup;

	for (long i = 0; i < n; i++)
		co_yield work(i);
	if (fail)
		throw std::runtime_error("at the end");
}

static generator doubled(long n, bool fail)
{
	generator inner = count_up(n, fail);

	while (inner.next())
		co_yield 2 * work(inner.handle.promise().value);
}

int main()
{
	long sum = 0, caught = 0;

	for (int i = 0; i < 1000; i++) {
		generator all = doubled(10, i % 2);
		generator part = count_up(10, false);

		part.next();
		sum += part.handle.promise().value;
		try {
			while (all.next())
				sum += all.handle.promise().value;
		} catch (const std::runtime_error &) {
			caught++;
		}
	}
	printf("%ld %ld\n", sum, caught);
	return 0;
}
