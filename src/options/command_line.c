/* A wrong word gets the list of right ones, and the nearest of them by edit
 * distance. Nothing said here may keep the program from running: a pipe that
 * nobody reads is given up after 0.1 s. */

#include "options/command_line.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- words of which one is to be given ----------------------------------- */

/* Near misses are counted as Damerau did: a letter too much, too few, another
 * one, or two in the wrong order. One in three letters may be wrong. */

#define MOST_LETTERS 32u

int swz_word_find(swz_word_at *at, const char *word, size_t length)
{
	int found = SWZ_WORD_UNKNOWN;
	const char *known;

	for (size_t i = 0; (known = at(i)); i++) {
		if (!*known || strncmp(known, word, length) != 0)
			continue;
		if (!known[length])
			return (int)i;
		found = found == SWZ_WORD_UNKNOWN ? (int)i : SWZ_WORD_AMBIGUOUS;
	}
	return length ? found : SWZ_WORD_UNKNOWN;
}

int swz_word_is(swz_word_at *at, const char *word, size_t length)
{
	const char *known;

	for (size_t i = 0; (known = at(i)); i++)
		if (*known && strncmp(known, word, length) == 0 &&
		    !known[length])
			return (int)i;
	return SWZ_WORD_UNKNOWN;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Row i of the table: how far the first i letters of A are from each beginning
 * of B. */
static unsigned distance(const char *a, size_t m, const char *b, size_t n)
{
	unsigned rows[MOST_LETTERS + 1][MOST_LETTERS + 1];

	for (size_t i = 0; i <= m; i++) {
		for (size_t j = 0; j <= n; j++) {
			if (!i || !j) {
				rows[i][j] = (unsigned)(i + j);
				continue;
			}
			rows[i][j] = least(
				least(rows[i - 1][j], rows[i][j - 1]) + 1,
				rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				rows[i][j] = least(rows[i][j],
						   rows[i - 2][j - 2] + 1);
		}
	}
	return rows[m][n];
}

const char *swz_word_meant(swz_word_at *at, const char *word, size_t length)
{
	const char *known, *nearest = NULL;
	unsigned best = MOST_LETTERS;

	if (length > MOST_LETTERS)
		return NULL;
	for (size_t i = 0; (known = at(i)); i++) {
		size_t n = strlen(known);
		unsigned far;

		if (!n || n > MOST_LETTERS)
			continue;
		far = distance(word, length, known, n);
		if (far < best &&
		    (size_t)far * 3 <= (n > length ? n : length)) {
			best = far;
			nearest = known;
		}
	}
	return nearest;
}

__attribute__((format(printf, 2, 3))) static void append(char *text,
							 const char *format,
							 ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, SWZ_ADVICE_BYTES - length, format, arguments);
	va_end(arguments);
}

void swz_word_advice(swz_word_at *at, const char *word,
		     char text[SWZ_ADVICE_BYTES])
{
	const char *meant = swz_word_meant(at, word, strlen(word)), *known;
	const char *before = "There are: ";

	*text = '\0';
	if (meant)
		append(text, "; did you mean '%s'? ", meant);
	else
		append(text, ". ");
	for (size_t i = 0; (known = at(i)); i++) {
		if (!*known)
			continue;
		append(text, "%s%s", before, known);
		before = ", ";
	}
}

void swz_word_beginnings(swz_word_at *at, const char *word,
			 char text[SWZ_ADVICE_BYTES])
{
	const char *known;

	*text = '\0';
	for (size_t i = 0; (known = at(i)); i++)
		if (*known && strncmp(known, word, strlen(word)) == 0)
			append(text, "%s%s", *text ? ", " : "", known);
}

void swz_option_complaint(swz_word_at *at, const char *argument,
			  char text[SWZ_ADVICE_BYTES])
{
	const char *word = argument + 2;
	size_t length = strcspn(word, "=");
	const char *meant = swz_word_meant(at, word, length), *known;
	const char *before = ": ";

	*text = '\0';
	if (swz_word_find(at, word, length) != SWZ_WORD_AMBIGUOUS) {
		append(text, "unknown option --%.*s", (int)length, word);
		if (meant)
			append(text, "; did you mean --%s?", meant);
		return;
	}
	append(text, "option --%.*s could be several", (int)length, word);
	for (size_t i = 0; (known = at(i)); i++)
		if (strncmp(known, word, length) == 0) {
			append(text, "%s--%s", before, known);
			before = ", ";
		}
}

/* --- durations ----------------------------------------------------------- */

#define MOST_SECONDS 31536000.0
#define MOST_DIGITS 17u

uint64_t swz_duration(const char *text)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}};
	size_t length = strspn(text, "0123456789.");
	char number[MOST_DIGITS + 1], *end;
	double value;

	if (!length || length > MOST_DIGITS)
		return 0;
	memcpy(number, text, length);
	number[length] = '\0';
	value = strtod(number, &end);
	if (*end)
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(text + length, units[i].unit) == 0 &&
		    value * units[i].seconds <= MOST_SECONDS)
			return (uint64_t)(value * units[i].seconds * 1e9 + 0.5);
	return 0;
}

/* --- lines on standard error --------------------------------------------- */

#define MOST_BYTES 1024u
#define PATIENCE_MS 100

/* (A terminal that ^S has stopped goes on when its user wants.) */
static bool takes_more(void)
{
	struct pollfd one = {.fd = STDERR_FILENO, .events = POLLOUT};
	struct stat now;

	if (fstat(STDERR_FILENO, &now) == 0 && !S_ISFIFO(now.st_mode) &&
	    !S_ISSOCK(now.st_mode))
		return true;
	return poll(&one, 1, PATIENCE_MS) != 0;
}

void swz_notice_write(const char *text, size_t length)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction before;

	if (!takes_more())
		return;
	/* the program has what was set for it */
	sigaction(SIGPIPE, &ignore, &before);
	(void)!write(STDERR_FILENO, text, length);
	sigaction(SIGPIPE, &before, NULL);
}

void swz_notice(const char *format, ...)
{
	char text[MOST_BYTES] = "swizzle: ";
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, sizeof(text) - length - 1, format, arguments);
	va_end(arguments);
	length = strlen(text);
	text[length++] = '\n';
	swz_notice_write(text, length);
}

void swz_keep_standard_descriptors(int flags)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | flags);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* --- variables of the environment ---------------------------------------- */

#define OURS "SWIZZLE_"
#define OF_TESTS OURS "TEST_"

const char *swz_variables_of_dump(size_t index)
{
	static const char *const names[] = {
		OURS "PAGER",           OURS "ADVICE",
		OURS "PROGRESS_AFTER",  OURS "PUSH_TOKEN",
		OURS "PUSH_TOKEN_FILE",
	};

	return index < sizeof(names) / sizeof(names[0]) ? names[index] : NULL;
}

static swz_word_at *all;

/* The names without what all begin with: of that no letter is wrong. */
static const char *name_at(size_t index)
{
	const char *name = all(index);

	return name && *name ? name + strlen(OURS) : name;
}

static void check(const char *variable, size_t length, bool near)
{
	const char *name = variable + strlen(OURS), *meant;

	length -= strlen(OURS);
	if (swz_word_is(name_at, name, length) != SWZ_WORD_UNKNOWN)
		return;
	meant = swz_word_meant(name_at, name, length);
	if (meant)
		swz_notice(OURS "%.*s in the environment is no setting; did "
				"you mean " OURS "%s?",
			   (int)length, name, meant);
	else if (!near)
		swz_notice(OURS "%.*s in the environment is no setting; 'man "
				"swizzle-run' has all",
			   (int)length, name);
}

void swz_variables_check(swz_word_at *known, bool near)
{
	all = known;
	for (char **e = environ; *e; e++)
		if (strncmp(*e, OURS, strlen(OURS)) == 0 &&
		    strncmp(*e, OF_TESTS, strlen(OF_TESTS)) != 0)
			check(*e, strcspn(*e, "="), near);
}

/* --- ends that only concern the command line ----------------------------- */

void swz_wrong_usage(const char *tool, const char *format, ...)
{
	va_list arguments;

	fputs("swizzle: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\nTry '%s --help'.\n", tool);
	exit(SWZ_WRONG_USAGE);
}

void swz_print_and_exit(const char *text)
{
	if (fputs(text, stdout) < 0 || fflush(stdout) != 0) {
		fprintf(stderr, "swizzle: standard output: %s\n",
			strerror(errno));
		exit(EXIT_FAILURE);
	}
	exit(EXIT_SUCCESS);
}
