#include <stdio.h>
extern const struct {
	long (*function)(long);
	const char *name;
} shapes[];
int main(void)
{
	for (int i = 0; shapes[i].function; i++)
		for (long n = 0; n < 4; n++) {
			long got = shapes[i].function(n);

			if (got > 4)
				got -= (long)main;
			printf("%s %ld\n", shapes[i].name, got);
		}
	return 0;
}
