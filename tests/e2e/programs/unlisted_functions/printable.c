#include <stdio.h>
#include <stdlib.h>

#define MANY(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define DEFINE(n) \
	__attribute__((noipa)) static long many_##n(long x) \
	{ \
		for (long i = 0; i < (x & 7); i++) \
			x = (x * 31 + (x >> 3)) ^ n; \
		return (x * 5 + (x >> 2)) * 7 + (x >> 5) + n; \
	}
#define LIST(n) many_##n,
MANY(DEFINE)
static long (*const volatile many[])(long) = {MANY(LIST)};

static const char *other_return_address;

/* What is done each time: long, so that it is not repeated at each label. */
#ifdef SWITCH
#define GO_ON \
	switch (p[-1] >> 2) { \
	case 0: out[1] += n; goto next; \
	case 1: out[2] ^= n; n *= 3; goto next; \
	case 2: out[3] += 5; n--; goto next; \
	case 3: out[4] -= n; n ^= 5; goto next; \
	case 4: out[5] += n; n += out[1]; goto next; \
	case 5: out[6] += n; n &= 0xffff; goto next; \
	case 6: return n * 5; \
	default: return n; \
	}
#else
#define GO_ON goto next;
#endif
#define RUN(name, each_time, result) \
	__attribute__((noipa)) static long name(const unsigned char *p, long most, \
						long *out) \
	{ \
		static const void *const labels[] = {&&add, &&twice, &&stop, &&back}; \
		volatile long kept[10] = {0}; \
		long n = 0; \
	next: \
		each_time; \
		goto *labels[*p++ & 3]; \
	add: \
		n += 3; \
		if (n > most) \
			return n; \
		goto next; \
	twice: \
		n *= 2; \
		if (n > most) \
			return n; \
		goto next; \
	back: \
		n -= 1; \
		if (n > most) \
			return n - 8; \
		GO_ON \
	stop: \
		(void)kept; \
		return result; \
	}
RUN(keeps_below,
	kept[n & 7] += n; kept[(n >> 3) & 7] ^= n * 31; kept[8] += kept[(n + 1) & 7];
	kept[9] += kept[8] * n; kept[(n >> 4) & 7] ^= n * 37; out[0] += n,
	kept[8] ^ kept[9])
RUN(looks_at_caller,
	out[0] += n; out[1] ^= out[0] * 5; out[2] += out[1]; out[3] ^= out[2] * 7;
	out[4] += out[3] * 9; out[5] += out[4] & out[3]; out[6] += out[5] ^ n;
	other_return_address = __builtin_return_address(0), n)

int main(void)
{
	static const unsigned char program[] = {
		0, 1, 0, 3, 1, 7, 1, 0, 11, 0, 3, 1, 15, 19, 2};
	static long out[8];
	long sum = 0;

	for (long i = 0; i < 3; i++) {
		for (int n = 0; n < 12; n++)
			sum += many[n](i);
		printf("%ld %ld\n", sum, keeps_below(program, 100000, out));
		printf("%ld", looks_at_caller(program, 100000, out));
		printf(" %ld\n", (long)(other_return_address - (const char *)main));
	}
	return 0;
}
