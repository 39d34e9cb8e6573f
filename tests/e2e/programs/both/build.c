static volatile long sink;
__attribute__((noinline)) void changed(long n)
{
	while (n--)
		sink = n;
}
__attribute__((noinline)) void same(void) { changed(100000); }
int main(void)
{
	for (int i = 0; i < 1000; i++) {
		changed(WORK);
		same();
	}
	return 0;
}
