/* swizzle-dump on a terminal: a table as wide as that, colours, a pager. */

#include <check.h>
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>
#include <locale.h>

#include "tests/unit/dumped.h"
#include "tests/unit/run_suite.h"

#define LONG \
	"a_name_that_is_so_long_that_no_terminal_of_eighty_columns_has_room_" \
	"for_all_of_it"
#define WIDE \
	"\u95a2\u6570\u306e\u540d\u524d\u304c\u3068\u3066\u3082\u9577\u3044" \
	"\u306e\u3067\u5207\u3089\u306a\u3051\u308c\u3070\u306a\u3089\u306a" \
	"\u3044\u95a2\u6570\u306e\u540d\u524d\u304c\u3068\u3066\u3082\u9577"

static char screen[1 << 16];
static int status;

static void setup(void)
{
	dump_begin();
	setenv("TERM", "xterm", 1);
	setenv("PAGER", "cat", 1);
	unsetenv("COLUMNS");
	unsetenv("NO_COLOR");
	dump_made("p", 4242,
		  "main 1 900\n"
		  "  shop::round 10 600\n"
		  "    shop::price 20 100\n"
		  "    " WIDE " 20 100\n"
		  "  " LONG " 5 200\n"
		  "thread worker-1 500\n"
		  "shop::round 2 400\n");
}

/* swizzle-dump WORDS on a terminal: what that gets, without \r, and the
 * status. Nobody types. */
static void on_terminal(int width, int height, const char *words)
{
	struct winsize room = {.ws_row = (unsigned short)height,
			       .ws_col = (unsigned short)width};
	size_t size = 0, kept = 0;
	char command[256];
	ssize_t got;
	int fd;
	pid_t pid = forkpty(&fd, NULL, NULL, &room);

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		snprintf(command, sizeof(command), "exec \"$DUMP\" %s", words);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	while ((got = read(fd, screen + size, sizeof(screen) - 1 - size)) > 0)
		size += (size_t)got;
	close(fd);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	for (size_t i = 0; i < size; i++)
		if (screen[i] != '\r')
			screen[kept++] = screen[i];
	screen[kept] = '\0';
}

/* Leaves colours out; returns how many there were. */
static int uncoloured(char *text)
{
	int count = 0;
	char *to = text;

	for (const char *at = text; *at;) {
		if (strncmp(at, "\033[", 2) == 0) {
			at += strcspn(at, "m") + 1;
			count++;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
	return count;
}

/* Columns of the widest line. */
static int widest(const char *text)
{
	wchar_t line[512];
	char part[2048];
	int most = 0;

	for (size_t size; *text; text += size + (text[size] == '\n')) {
		size = strcspn(text, "\n");
		ck_assert_uint_lt(size, sizeof(part));
		memcpy(part, text, size);
		part[size] = '\0';
		ck_assert_uint_lt(mbstowcs(line, part, 512), 512);
		int columns = wcswidth(line, 512);
		if (columns > most)
			most = columns;
	}
	return most;
}

START_TEST(there_it_is_a_table)
{
	on_terminal(100, 60, "--no-pager p");
	ck_assert_int_eq(status, 0);
	ck_assert_int_gt(uncoloured(screen), 0);
	dump_has(screen, "\nself%    self  incl%    incl  calls  function");
	dump_has(screen, "\n53.3%  800 ns  66.7% 1.00 us     12  shop::round ");
	ck_assert_int_le(widest(screen), 100);
	ck_assert_int_ne(system("ls callgrind.out.* >/dev/null 2>&1"), 0);
}
END_TEST

START_TEST(elsewhere_it_is_for_scripts)
{
	char *text;

	dump_says("-f text p", 0, "");
	text = strdup(dumped.out);
	dump_is("p", text);
	dump_says("-o written p", 0, "");
	ck_assert_int_eq(system("\"$DUMP\" p | cmp - written"), 0);
	on_terminal(100, 60, "--no-pager -f text p");
	ck_assert_str_eq(screen, text);
	free(text);
	dump("-f callgrind p");
	ck_assert_int_eq(
		system("grep -q '^# callgrind format$' callgrind.out.4242"), 0);
}
END_TEST

START_TEST(no_row_is_wider_than_the_terminal)
{
	static const char *const widths[] = {"56", "70", "80", "120"};

	setenv("LC_ALL", "C.UTF-8", 1);
	ck_assert_ptr_nonnull(setlocale(LC_ALL, "C.UTF-8"));
	for (int i = 0; i < 4; i++) {
		setenv("COLUMNS", widths[i], 1);
		dump_says("-f table --color=always p", 0, "");
		ck_assert_int_gt(uncoloured(dumped.out), 0);
		dump_has(dumped.out, "  shop::price");
		dump_has(dumped.out, "  \u95a2\u6570");
		dump_has(dumped.out, "  a_name");
		ck_assert_ptr_null(strstr(dumped.out, LONG));
		if (i > 0)
			dump_has(dumped.out, "of_it ");
		/* (the lines around them are sentences) */
		*strstr(dumped.out, "\nWho calls it") = '\0';
		ck_assert_int_le(widest(strstr(dumped.out, "\nself%") + 1),
				 atoi(widths[i]));
	}
	dump("-f csv p");
	dump_has(dumped.out, "," LONG ",");
	dump_has(dumped.out, "," WIDE ",");
}
END_TEST

START_TEST(colours)
{
	on_terminal(100, 60, "--no-pager p");
	ck_assert_int_gt(uncoloured(screen), 2);
	setenv("NO_COLOR", "1", 1);
	on_terminal(100, 60, "--no-pager p");
	ck_assert_int_eq(uncoloured(screen), 0);
	dump_has(screen, "shop::");
	unsetenv("NO_COLOR");
	on_terminal(100, 60, "--no-pager --color=never p");
	ck_assert_int_eq(uncoloured(screen), 0);
}
END_TEST

START_TEST(by_is_a_table_there)
{
	static const char *const keys[] = {"process", "function,thread"};
	char words[64];

	for (int i = 0; i < 4; i++) {
		int width = i / 2 ? 140 : 80;

		snprintf(words, sizeof(words), "-q --no-pager --by %s p",
			 keys[i % 2]);
		on_terminal(width, 50, words);
		dump_has(screen, "\033[1m");
		uncoloured(screen);
		ck_assert_int_le(widest(screen), width);
		dump_has(screen, i % 2 ? "\nself% " : "% ");
	}
	dump("-q --by module p");
	ck_assert_int_eq(strncmp(dumped.out, "# process", 9), 0);
}
END_TEST

START_TEST(a_long_command)
{
	dump_made("wide", 4243,
		  "path /a/folder/of/many/letters/"
		  "that_has_a_program_with_a_long_name_in_it_that_goes_on A\n"
		  "main 1 900\n");
	on_terminal(80, 24, "-q --no-pager --color=never --by process wide");
	/* (the title has all of it, as far as it goes) */
	dump_has(screen, "  4243  .../that_has_a_program_wi...\n");
	ck_assert_int_le(widest(screen), 80);
}
END_TEST

static void write_pager(void)
{
	ck_assert_int_eq(system("printf '#!/bin/sh\\necho PAGER GOT\\ncat "
				">paged\\n' >pager; chmod +x pager"),
			 0);
	setenv("SWIZZLE_PAGER", "./pager", 1);
}

START_TEST(a_pager_for_what_is_longer_than_the_screen)
{
	write_pager();
	on_terminal(100, 6, "-f tree p");
	ck_assert_str_eq(screen, "PAGER GOT\n");
	ck_assert_int_eq(system("grep -q shop::round paged"), 0);
	on_terminal(100, 6, "--no-pager -f tree p");
	dump_has(screen, "shop::round");
}
END_TEST

START_TEST(what_fits_does_not_wait_in_less)
{
	unsetenv("SWIZZLE_PAGER");
	setenv("PAGER", "less", 1);
	on_terminal(100, 60, "-n 5 p");
	ck_assert_int_eq(status, 0);
	dump_has(screen, "function");
}
END_TEST

START_TEST(pagers_that_end_early_or_are_not_there)
{
	setenv("SWIZZLE_PAGER", "true", 1);
	on_terminal(100, 6, "-n 0 p");
	ck_assert_int_eq(status, 0);
	setenv("SWIZZLE_PAGER", "no-such-pager", 1);
	on_terminal(100, 6, "-n 5 p");
	ck_assert_int_eq(status, 0);
	dump_has(screen, "function");
	ck_assert_ptr_null(strstr(screen, "no-such-pager"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dump_terminal");
	TCase *t = tcase_create("dump_terminal");

	tcase_add_checked_fixture(t, setup, dump_end);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, there_it_is_a_table);
	tcase_add_test(t, elsewhere_it_is_for_scripts);
	tcase_add_test(t, no_row_is_wider_than_the_terminal);
	tcase_add_test(t, colours);
	tcase_add_test(t, by_is_a_table_there);
	tcase_add_test(t, a_long_command);
	tcase_add_test(t, a_pager_for_what_is_longer_than_the_screen);
	tcase_add_test(t, what_fits_does_not_wait_in_less);
	tcase_add_test(t, pagers_that_end_early_or_are_not_there);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
