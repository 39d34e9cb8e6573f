#include <stdio.h>
int main(void);
__attribute__((noinline)) void note(const char *what, char *address)
{
	printf("%s %td\n", what, address ? address - (char *)main : 0);
}
__attribute__((noinline)) int same(int n)
{
	__asm__ volatile("");
	return n;
}
__attribute__((noinline)) int switches(int n, void *address)
{
	same(1);
	for (int i = 0; i < 3; i++) {
		switch (same(n + i)) {
		case 0: note("zero", address); break;
		case 1: address = __builtin_return_address(0); /* fall through */
		case 2: note("two", address); break;
		case 3: note("three", 0); break;
		case 4: n++; note("four", address); break;
		case 5: note("five", 0); break;
		default: same(9);
		}
	}
	return n;
}
__attribute__((noinline)) int goes(int n, void *address)
{
	static const short table[] = {&&a - &&a, &&b - &&a, &&c - &&a,
				      &&d - &&a, &&e - &&a};
	int i = 0;

	same(1);
	goto *(&&a + table[n]);
a:	note("a", address);
	if (i++ > 5)
		return i;
	goto *(&&a + table[same((n + i) % 5)]);
b:	address = __builtin_return_address(0);
c:	note("c", address);
	if (i++ > 5)
		return i;
	goto *(&&a + table[same((n + i) % 5)]);
d:	note("d", address);
	if (i++ > 5)
		return i;
	goto *(&&a + table[same((n + i) % 5)]);
e:	address = 0;
	if (i++ > 5)
		return i;
	goto *(&&a + table[same((n + i) % 5)]);
}
int main(void)
{
	for (int i = 0; i < 5; i++)
		same(switches(i, 0) + goes(i, 0));
	return 0;
}
