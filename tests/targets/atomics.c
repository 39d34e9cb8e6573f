/* build: -O2 -pthread -Wno-atomic-alignment -latomic */
/* libatomic's functions of 16 and of odd sizes, from four threads: many are a
 * loop of a few instructions that goes back into their first five bytes. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

typedef unsigned __int128 wide;

static _Atomic wide sum, bits;
static _Atomic unsigned char byte;

struct odd {
	char bytes[7];
};
static _Atomic struct odd odd;

/* through the library, whatever the compiler would inline */
extern unsigned char __atomic_fetch_add_1(volatile void *, unsigned char, int);

static void *run(void *argument)
{
	wide one = (wide)1 << 64 | 1;

	for (int i = 0; i < 20000; i++) {
		struct odd old = atomic_load(&odd), new;

		atomic_fetch_add(&sum, one);
		atomic_fetch_xor(&bits, (wide)i << (i % 100));
		__atomic_fetch_add_1(&byte, 1, 5);
		do {
			new = old;
			for (int b = 0; b < 7 && ++new.bytes[b] == 0; b++)
				;
		} while (!atomic_compare_exchange_weak(&odd, &old, new));
	}
	return argument;
}

int main(void)
{
	pthread_t thread[4];
	struct odd o;
	wide s, b;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	s = atomic_load(&sum);
	b = atomic_load(&bits);
	o = atomic_load(&odd);
	printf("%llu %llu %llx %llx %d", (unsigned long long)s,
	       (unsigned long long)(s >> 64), (unsigned long long)b,
	       (unsigned long long)(b >> 64), byte);
	for (int i = 0; i < 7; i++)
		printf(" %02x", (unsigned char)o.bytes[i]);
	printf("\n");
	return 0;
}
