#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#define KEEP __attribute__((noipa))

int visit(long n, uintptr_t slot, uintptr_t elsewhere);
int visit_by_jump(long n, uintptr_t slot, uintptr_t elsewhere);
int visit_deep(long n, uintptr_t slot, uintptr_t elsewhere);

static volatile long sink;

KEEP void redirect(uintptr_t slot, uintptr_t to)
{
	static uintptr_t (*resolve)(uintptr_t);

	if (!resolve)
		*(void **)&resolve = dlsym(RTLD_DEFAULT,
					   "swizzle_resolve_return_location");
	if (resolve)
		slot = resolve(slot);
	*(uintptr_t *)slot = to;
}

KEEP void plain(long n, uintptr_t slot, uintptr_t elsewhere)
{
	if (n % 4 == 3)
		redirect(slot, elsewhere);
	sink++;
}

KEEP void next(long n, uintptr_t slot, uintptr_t elsewhere)
{
	plain(n, slot, elsewhere);
	sink++;
}

KEEP void jumping(long n, uintptr_t slot, uintptr_t elsewhere)
{
	sink++;
	next(n, slot, elsewhere);
}

/* Deep enough for frames that share the code they return to. */
KEEP void nesting(long n, uintptr_t slot, uintptr_t elsewhere)
{
	sink++;
	if (n >= 100)
		sink += visit_deep(n - 100, 0, 0);
	else
		plain(n, slot, elsewhere);
	sink++;
}

int main(void)
{
	for (long n = 0; n < 40; n++)
		printf("%d %d %d\n", visit(n, 0, 0), visit_by_jump(n, 0, 0),
		       visit_deep(n + 3000, 0, 0));
	for (long n = 0; n < 100000; n++)
		sink += visit(n, 0, 0) + visit_by_jump(n, 0, 0);
	printf("%ld\n", sink);
	return 0;
}
