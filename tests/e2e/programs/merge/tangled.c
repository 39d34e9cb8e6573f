#define KEEP __attribute__((noinline, noclone))
static volatile long sink;
KEEP int leaf(int n) { for (int i = 0; i < n % 7 * 10; i++) sink += i; return n; }
KEEP int b(int n);
KEEP int c(int n);
KEEP int a(int n) { int r = leaf(n); if (n > 0) r += c(n - 1); sink++; return r; }
KEEP int b(int n) { int r = leaf(n + 3); if (n > 0) r += c(n - 2); sink++; return r; }
KEEP int c(int n)
{
	int r = 0;

	if (n > 0) r += a(n - 1);
	if (n > 0 && n % 3 == 0) r += b(n - 2);
	sink++;
	return r;
}
int main(void)
{
	for (int i = 0; i < 50; i++) { a(30 + i % 5); b(28); }
	return 0;
}
