// Boost.Context, compiled by test_boost.sh: boost_contexts WHAT N
#include <boost/context/continuation.hpp>
#include <boost/context/detail/fcontext.hpp>
#include <boost/context/fiber.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace ctx = boost::context;

#define KEEP __attribute__((noinline, noclone))

static volatile long sink;
static long cleaned, caught;

KEEP long work(long n)
{
	sink = n;
	return n + 1;
}

struct guard {
	KEEP ~guard()
	{
		cleaned += work(0);
	}
};

// --- fcontext, the bare switch

KEEP static void bare(ctx::detail::transfer_t t)
{
	for (;;) {
		long *n = static_cast<long *>(t.data);

		*n = work(*n);
		t = ctx::detail::jump_fcontext(t.fctx, n);
	}
}

KEEP static long bare_switches(long n)
{
	std::vector<char> stack(1 << 16);
	long value = 0;
	ctx::detail::transfer_t t = {
		ctx::detail::make_fcontext(stack.data() + stack.size(),
					   stack.size(), bare),
		nullptr};

	for (long i = 0; i < n; i++)
		t = ctx::detail::jump_fcontext(t.fctx, &value);
	return value;
}

// --- fibers: they end, are unwound when destroyed, and throw

KEEP static ctx::fiber nested(ctx::fiber &&caller, int depth)
{
	guard cleanup;

	if (depth)
		return nested(std::move(caller), depth - 1);
	sink = work(depth);
	return std::move(caller).resume();
}

KEEP static ctx::fiber start_of(int depth)
{
	return ctx::fiber([depth](ctx::fiber &&caller) {
		caller = nested(std::move(caller), depth);
		return std::move(caller);
	});
}

KEEP static void thrower(long n)
{
	guard cleanup;

	if (n >= 0)
		throw std::runtime_error("in a fiber");
}

KEEP static ctx::continuation catching(long n)
{
	return ctx::callcc([n](ctx::continuation &&caller) {
		for (long i = 0; i < 3; i++) {
			try {
				thrower(n + i);
			} catch (const std::runtime_error &) {
				caught++;
			}
			caller = caller.resume();
		}
		return std::move(caller);
	});
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "bare";
	long n = argc > 2 ? std::atol(argv[2]) : 100;

	for (long i = 0; i < n; i++) {
		if (!strcmp(what, "bare")) {
			sink = bare_switches(100);
		} else if (!strcmp(what, "finish")) {
			ctx::fiber f = start_of(4).resume();

			f = std::move(f).resume();
		} else if (!strcmp(what, "destroy")) {
			ctx::fiber f = start_of(4).resume();
		} else {
			ctx::continuation c = catching(i);

			while (c)
				c = c.resume();
		}
	}
	printf("%ld %ld %ld\n", cleaned, caught, static_cast<long>(sink));
	return 0;
}
