/* build: -O2 -fno-inline -fno-optimize-sibling-calls -fno-ipa-cp -fno-ipa-sra
 */
/* A function has the name that a compiler gives one whose convention it has
 * changed: its result is not recorded, and it is the first with an error. */

int refuses(int n) __asm__("refuses.isra.0");
int refuses(int n)
{
	return n ? -22 : 0;
}

int adds(int n)
{
	int error = refuses(n);

	__asm__ volatile("");
	return error;
}

int passes(int n) __asm__("passes.constprop.0");
int passes(int n)
{
	int error = adds(n);

	__asm__ volatile("");
	return error;
}

int plain(int n)
{
	return n ? -5 : 0;
}

int main(int argc, char **argv)
{
	(void)argv;
	return passes(argc) + plain(argc + 1) == -27 ? 0 : 1;
}
