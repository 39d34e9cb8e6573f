#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <string.h>
struct seen {
	int ours, after_end, limit;
};
static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct seen *seen = data;

	if (strcmp(info->dlpi_name, "[swizzle]") == 0)
		seen->ours++;
	if (seen->limit == 0)
		seen->after_end++;
	else
		seen->limit--;
	return seen->limit == 0 ? (int)size : 0;
}
void NAME(const char *who)
{
	struct seen all = {.limit = 1000}, first = {.limit = 1};
	int one = dl_iterate_phdr(visit, &all);
	int other = dl_iterate_phdr(visit, &first);

	printf("%s: %s, %d, %d, %d\n", who,
	       all.ours ? "ours" : "none of ours", one,
	       other == sizeof(struct dl_phdr_info), first.after_end);
}
#ifdef MAIN
void of_library(const char *who);
int main(void)
{
	of_program("program");
	of_library("library");
	return 0;
}
#else
int EXPORTED;
#endif
