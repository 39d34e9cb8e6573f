/* A library that calls others: through its PLT, and through a weak reference to
 * what nobody defines. */
#include <unistd.h>

int imports_entry(int fd, int n);
int imports_parent(void);
int imports_group(void);
void imports_nobody_defines_this(void) __attribute__((weak));

int imports_entry(int fd, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += (int)write(fd, "x", 1);
	if (imports_nobody_defines_this)
		imports_nobody_defines_this();
	return sum;
}

int imports_parent(void)
{
	return getppid() > 0;
}

/* Built without a PLT it is one jump through the GOT, in the place of which the
 * jump to a trampoline comes. */
int imports_group(void)
{
	return getpgrp();
}
