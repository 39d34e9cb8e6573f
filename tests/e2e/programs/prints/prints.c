#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>
#define F __attribute__((noipa))
static int lines;
F void log_message(int level, const char *text)
{
	lines += level + (text[0] != 0);
}
F void step(int n)
{
	char text[64];

	if (n % 2)
		puts("odd");
	else
		fputs(n == 2 ? "two\n" : "even\n", stdout);
	snprintf(text, sizeof(text), "step %d of 4", n);
	log_message(n, text);
	fprintf(stderr, "error %d\n", n);
	fwrite("abcdef", 2, 3, stdout);
	fwrite("\n", 1, 1, stdout);
}
int main(void)
{
	int ends[2];

	setvbuf(stdout, NULL, _IOFBF, 4096);
	for (int n = 1; n <= 4; n++)
		step(n);
	printf("%s and %d\n", "formatted", 42);
	fflush(stdout);
	if (pipe(ends) == 0 && write(ends[1], "not shown", 9) != 9)
		return 1;
	if (write(1, "two\nlines\n", 10) != 10)
		return 1;
	setvbuf(stdout, NULL, _IONBF, 0);
	fputs("at once", stdout);
	return lines != 14;
}
