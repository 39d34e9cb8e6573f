#include <stdio.h>

__attribute__((noinline)) int label(int n, void *volatile *to)
{
	int sum = n;

again:
	sum += 3;
	*to = n & 1 ? &&again : &&other;
	n -= 3;
	if (n < 0)
		return sum;
	goto **to;
other:
	sum -= 2;
	*to = &&again;
	n--;
	goto **to;
}

/* by distances, as GCC's manual has it */
__attribute__((noinline)) int distance(int n, const unsigned char *code)
{
	static const int to[] = {&&add - &&end, &&sub - &&end, &&end - &&end};
	int sum = n;

add:
	sum += 3;
	goto *(&&end + to[*code++]);
sub:
	sum -= 1;
	goto *(&&end + to[*code++]);
end:
	return sum;
}

int main(void)
{
	void *volatile to;
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += label(i, &to) +
		       distance(i, (const unsigned char[]){0, 1, i % 2, 0, 2});
	printf("%d\n", sum);
	return 0;
}
