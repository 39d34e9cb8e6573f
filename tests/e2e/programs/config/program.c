#include <setjmp.h>
#include <stdio.h>
#define F __attribute__((noipa))
enum level { LOW, MID, HIGH };
static int sum;
static jmp_buf out;
F int inner(int n) { if (n == 77) longjmp(out, 1); return n + 1; }
F int notify(const char *topic, int n, double x, enum level l, int *p)
{
	sum += inner(n) + (int)x + (int)l + (p ? *p : 0);
	return sum;
}
F int from_a(int n) { return notify("shutdown", n, 1.5, HIGH, &n) + 1; }
F int from_b(int n) { return notify(n % 2 ? "start" : NULL, n, 2.5, LOW, NULL); }
F int result(int n) { return n % 3 == 0 ? -n : n; }
int main(void)
{
	for (int i = 1; i <= 9; i++) {
		from_a(i);
		from_b(i);
		result(i);
	}
	if (!setjmp(out))
		from_b(77);
	from_a(78);
	printf("%d\n", sum);
	return 0;
}
