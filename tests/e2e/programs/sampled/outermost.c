#define KEEP __attribute__((noinline, noclone, noipa))
static volatile long sink;
KEEP void target(void) { sink = sink + 1; }
__attribute__((optimize("optimize-sibling-calls"))) KEEP void outermost(void)
{
	sink = sink + 1;
	target();
}
int main(void)
{
	for (int i = 0; i < 20000; i++) {
		outermost();
		for (int j = 0; j < 5000; j++)
			__asm__ volatile("");
	}
}
