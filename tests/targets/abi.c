/* build: -O2 -fno-inline -fno-ipa-cp -fno-ipa-sra -Wno-psabi -lm */
/* Calls of every convention that C has; it prints what arrived. With
 * -fipa-ra, which -O2 turns on, a caller keeps values in any register that its
 * callee is seen not to touch. */
#include <complex.h>
#include <fenv.h>
#include <immintrin.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static volatile long seed = 3;

/* A leaf that needs two registers: all others stay live across its calls. */
static long leaf(long x)
{
	return x * 3 + 1;
}

static long keep_many(long a, long b, long c, long d, long e, long f)
{
	long g = a ^ b, h = c + d, i = e - f, j = a * c;
	long x = leaf(a + g);

	x += leaf(x ^ b) * h;
	x += leaf(x + c) * i;
	return x + a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + g * h - i * j;
}

static double keep_vectors(double a, double b, double c, double d, long x)
{
	double e = a * b, f = c - d, g = a + d;
	long y = leaf(x);

	return a + 2 * b + 3 * c + 4 * d + e * f / g + (double)leaf(y);
}

__attribute__((target("avx2"))) static double keep_ymm(const double *p, long x)
{
	__m256d a = _mm256_loadu_pd(p), b = _mm256_loadu_pd(p + 4);
	__m256d c = _mm256_mul_pd(a, b), d = _mm256_add_pd(a, b);
	double out[4];

	x = leaf(x);
	c = _mm256_add_pd(c, _mm256_mul_pd(d, _mm256_set1_pd((double)x)));
	x = leaf(x);
	c = _mm256_add_pd(c, _mm256_sub_pd(a, _mm256_set1_pd((double)x)));
	_mm256_storeu_pd(out, c);
	return out[0] + 2 * out[1] + 3 * out[2] + 4 * out[3];
}

__attribute__((target("avx2"))) static __m256d swap_halves(__m256d v)
{
	return _mm256_permute2f128_pd(v, v, 1);
}

__attribute__((target("avx2"))) static double pass_ymm(const double *p)
{
	double out[4];

	_mm256_storeu_pd(out, swap_halves(_mm256_loadu_pd(p)));
	return out[0] * 1000 + out[1] * 100 + out[2] * 10 + out[3];
}

__attribute__((target("avx512f"))) static __m512i add_zmm(__m512i a, __m512i b)
{
	return _mm512_add_epi64(a, b);
}

__attribute__((target("avx512f"))) static long pass_zmm(void)
{
	__m512i a = _mm512_set_epi64(1, 2, 3, 4, 5, 6, 7, seed);
	__m512i b = _mm512_set1_epi64(seed);
	__mmask8 odd = _mm512_cmpgt_epi64_mask(a, b);
	__m512i c = add_zmm(a, b);

	leaf(seed);
	return _mm512_reduce_add_epi64(_mm512_mask_add_epi64(c, odd, c, a));
}

/* al says how many vector registers a variadic call uses. */
static double sum_doubles(int n, ...)
{
	double sum = 0;
	va_list list;

	va_start(list, n);
	for (int i = 0; i < n; i++)
		sum = sum * 2 + va_arg(list, double);
	va_end(list);
	return sum;
}

static long double sum_mixed(const char *kinds, ...)
{
	long double sum = 0;
	va_list list;

	va_start(list, kinds);
	for (; *kinds; kinds++)
		sum = sum * 3 + (*kinds == 'd'   ? va_arg(list, double)
				 : *kinds == 'l' ? va_arg(list, long double)
						 : va_arg(list, int));
	va_end(list);
	return sum;
}

struct large {
	long words[12];
};

static struct large make_large(long a)
{
	struct large s;

	for (int i = 0; i < 12; i++)
		s.words[i] = a + i;
	return s;
}

static long take_large(struct large s, long x)
{
	return s.words[0] + s.words[11] * x;
}

struct two {
	long a, b;
};
struct mixed {
	long a;
	double b;
};
struct floats {
	double a, b;
};

static struct two make_two(long a)
{
	return (struct two){a, -a * 2};
}

static struct mixed make_mixed(long a)
{
	return (struct mixed){a, (double)a / 2};
}

static struct floats make_floats(long a)
{
	return (struct floats){(double)a / 3, (double)a * 3};
}

static long double make_long_double(long a)
{
	return (long double)a / 7;
}

static _Complex long double make_complex(long a)
{
	return (long double)a / 7 + (long double)a / 11 * I;
}

static __int128 make_wide(long a)
{
	return (__int128)a << 70 | a;
}

static long many(long a, long b, long c, long d, long e, long f, long g,
		 double h, long double i, long j)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g +
	       (long)(8 * h) + (long)(9 * i) + 10 * j;
}

__attribute__((ms_abi)) static long microsoft(long a, long b, double c, long d,
					      long e)
{
	return a + 2 * b + (long)(3 * c) + 4 * d + 5 * e;
}

/* The static chain of a nested function comes in r10. */
static long nested(long n)
{
	long level = n * 5;
	__extension__ auto long inner(long x);
	long inner(long x)
	{
		level += x;
		return x ? inner(x - 1) + level : level;
	}

	return inner(n) + level;
}

/* A frame that is aligned anew keeps a copy of its return address. */
static long aligned(long n)
{
	_Alignas(64) char room[256];

	memset(room, (int)n, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
	return ((uintptr_t)room & 63) == 0 ? room[n & 255] : -1;
}

static double third(double x)
{
	return x / 3;
}

static double in_rounding_mode(int mode)
{
	double result;

	fesetround(mode);
	result = third((double)seed);
	mode = fegetround() == mode;
	fesetround(FE_TONEAREST);
	return mode ? result : -1;
}

/* An MMX register in use across a call. */
static long keep_mmx(long x)
{
	long out;

	__asm__ volatile("movq %0, %%mm3" : : "r"(x) : "mm3");
	leaf(x);
	__asm__ volatile("movq %%mm3, %0; emms" : "=r"(out) : : "mm3");
	return out;
}

static void round_of(long n)
{
	double numbers[8] = {1.5, 2.5, 3.25, 4, 5, 6, 7.125, (double)n};
	struct large s = make_large(n);
	struct two two = make_two(n);
	struct mixed mixed = make_mixed(n);
	struct floats floats = make_floats(n);
	_Complex long double z = make_complex(n);
	__int128 wide = make_wide(n);

	printf("%ld %ld\n", keep_many(n, 2, 3, 4, 5, 6), keep_mmx(n + 99));
	printf("%.17g\n", keep_vectors(1.5, 2.5, (double)n, 4.5, n));
	if (__builtin_cpu_supports("avx2"))
		printf("%.17g %.17g\n", keep_ymm(numbers, n),
		       pass_ymm(numbers));
	if (__builtin_cpu_supports("avx512f"))
		printf("%ld\n", pass_zmm());
	printf("%.17g %.17g\n", sum_doubles(3, 1.5, 2.5, (double)n),
	       sum_doubles(10, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10.));
	printf("%.20Lg\n", sum_mixed("dildi", 1.5, 2, 3.5L, 4.5, 5));
	printf("%ld\n", take_large(s, n));
	printf("%ld %ld %ld %.17g %.17g %.17g\n", two.a, two.b, mixed.a,
	       mixed.b, floats.a, floats.b);
	printf("%.20Lg %.20Lg %.20Lg\n", make_long_double(n), creall(z),
	       cimagl(z));
	printf("%lx %lx\n", (long)(wide >> 64), (long)wide);
	printf("%ld %ld %ld %ld\n", many(1, 2, 3, 4, 5, 6, 7, 8.5, 9.5L, n),
	       microsoft(1, 2, 3.5, 4, n), nested(n % 10), aligned(n));
	printf("%a %a %a\n", in_rounding_mode(FE_UPWARD),
	       in_rounding_mode(FE_DOWNWARD), in_rounding_mode(FE_TONEAREST));
}

int main(void)
{
	for (long n = 1; n <= 1000; n++) {
		seed = n % 7 + 2;
		round_of(n);
	}
	return 0;
}
