/* getopt_long() reads the options that a table describes. A wrong word gets the
 * list of right ones, and the nearest of them by edit distance. Nothing said
 * here may keep the program from running: a pipe that nobody reads is given up
 * after 0.1 s. */

#include "options/command_line.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
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

#include "base/printable.h"

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

/* --- options ------------------------------------------------------------- */

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

#define MOST_OPTIONS 96
#define MOST_COLUMNS 80u
#define OF_LONG 256 /* from here on getopt_long() returns indices */
#define IN_ORDER 1  /* it returns this for a word that is no option */

static const struct swz_option_table *reading;

static const char *option_at(size_t index)
{
	const struct swz_option *o = &reading->options[index];

	if (!swz_option_is(o))
		return NULL;
	return o->name && !o->only_help ? o->name : "";
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

static int has_value(const struct swz_option *option)
{
	if (!option->value)
		return no_argument;
	return *option->value == '[' ? optional_argument : required_argument;
}

static const struct swz_option *by_letter(int letter)
{
	for (const struct swz_option *o = reading->options; swz_option_is(o);
	     o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

/* "-o" or "--output"; messages name it until the program ends. */
static const char *spelled(const struct swz_option *option, bool in_full)
{
	static char texts[MOST_OPTIONS][2][32];
	char *text = texts[option - reading->options][in_full];

	if (in_full)
		snprintf(text, sizeof(texts[0][0]), "--%s", option->name);
	else
		snprintf(text, sizeof(texts[0][0]), "-%c", option->letter);
	return text;
}

static _Noreturn void wrong_option(int found, const char *argument)
{
	const char *problem = found == ':' ? "needs a value" : "takes no value";
	char text[SWZ_ADVICE_BYTES];

	if (optopt >= OF_LONG)
		snprintf(text, sizeof(text), "option --%s %s",
			 reading->options[optopt - OF_LONG].name, problem);
	else if (!optopt)
		swz_option_complaint(option_at, argument, text);
	else if (!by_letter(optopt))
		snprintf(text, sizeof(text), "unknown option -%c", optopt);
	else
		snprintf(text, sizeof(text), "option -%c %s", optopt, problem);
	swz_wrong_usage(reading->tool, "%s", text);
}

/* The text, but for its first |, in lines that begin at COLUMN; AT is where the
 * first line is written already. */
static void print_text(const char *text, size_t at, size_t column)
{
	while (*text) {
		size_t length = strcspn(text, " ");
		const char *bar = memchr(text, '|', length);
		size_t shown = length - (bar != NULL);

		if (at > column && at + 1 + shown > MOST_COLUMNS - 1) {
			putchar('\n');
			at = 0;
		}
		if (at < column)
			at += (size_t)printf("%*s", (int)(column - at), "");
		else if (at > column)
			at += (size_t)printf(" ");
		fwrite(text, 1, bar ? (size_t)(bar - text) : length, stdout);
		if (bar)
			fwrite(bar + 1, 1, length - (size_t)(bar + 1 - text),
			       stdout);
		at += shown;
		text += length + (text[length] == ' ');
	}
	putchar('\n');
}

static void print_option(const struct swz_option *o, size_t column)
{
	const char *value = o->value ? o->value : "";
	size_t at = o->letter ? (size_t)printf("  -%c%s", o->letter,
					       o->name ? ", " : "")
			      : (size_t)printf("      ");

	if (o->name)
		at += (size_t)printf("--%s", o->name);
	at += (size_t)printf("%s%s", *value && *value != '[' ? " " : "", value);
	if (at >= column) {
		putchar('\n');
		at = 0;
	}
	print_text(o->help, at, column);
}

const char *swz_help_at(size_t index)
{
	return index ? NULL : "all";
}

static size_t count_options(bool common)
{
	size_t count = 0;

	for (const struct swz_option *o = reading->options; swz_option_is(o);
	     o++)
		count += o->help && !o->only_help && (o->common || !common);
	return count;
}

static void print_all_options(void)
{
	for (const struct swz_option *o = reading->options; swz_option_is(o);
	     o++) {
		if (o->heading)
			printf("%s%s:\n", o == reading->options ? "" : "\n",
			       o->heading);
		if (o->help)
			print_option(o, reading->column);
	}
	fputs(reading->after, stdout);
}

/* (--help itself is common everywhere.) */
static void print_common_options(void)
{
	size_t count = count_options(false), shown = count_options(true);
	bool any = shown > 1;

	for (const struct swz_option *o = reading->options; swz_option_is(o);
	     o++)
		if (o->help && (o->common || !any))
			print_option(o, reading->column);
	printf("\n%s\n", reading->examples);
	if (any)
		printf("%s --help=all has %zu more, in groups.\n",
		       reading->tool, count - shown);
	printf("'man %s' explains each.\n", reading->tool);
}

static _Noreturn void print_help(const char *which)
{
	char advice[SWZ_ADVICE_BYTES];

	if (which && strcmp(which, "all") != 0) {
		swz_word_advice(swz_help_at, which, advice);
		swz_wrong_usage(reading->tool,
				"option --help: unknown kind of help '%s'%s",
				which, advice);
	}
	fputs(reading->before, stdout);
	if (which || !reading->examples)
		print_all_options();
	else
		print_common_options();
	swz_finish_printing();
}

static void take(const struct swz_option *option, bool in_full, void *context)
{
	if (option->letter == 'h')
		print_help(optarg);
	if (option->letter == 'V') {
		printf("%s " SWZ_VERSION "\n", reading->tool);
		swz_finish_printing();
	}
	if (option->renamed)
		swz_notice("option %s is called %s now; the old name goes with "
			   "the next release",
			   spelled(option, in_full), option->renamed);
	reading->take(context, option, spelled(option, in_full), optarg);
}

/* Words come in their order where the tool takes them; ':' tells a value that
 * is missing from an option that is unknown. */
static void describe(char letters[2 * MOST_OPTIONS + 3],
		     struct option names[MOST_OPTIONS + 1])
{
	const char *first = reading->word ? "-:" : "+:";
	size_t count = 0;

	letters = stpcpy(letters, first);
	for (const struct swz_option *o = reading->options;
	     swz_option_is(o) && o - reading->options < MOST_OPTIONS; o++) {
		if (o->only_help)
			continue;
		if (o->name)
			names[count++] = (struct option){
				o->name, has_value(o), NULL,
				OF_LONG + (int)(o - reading->options)};
		if (o->letter)
			*letters++ = o->letter;
		if (o->letter && has_value(o) == required_argument)
			*letters++ = ':';
	}
	*letters = '\0';
	names[count] = (struct option){NULL, 0, NULL, 0};
}

char **swz_options_parse(const struct swz_option_table *table, char **argv,
			 void *context)
{
	char letters[2 * MOST_OPTIONS + 3];
	struct option names[MOST_OPTIONS + 1];
	int argc = 0, found, at;
	bool again;

	while (argv[argc])
		argc++;
	reading = table;
	describe(letters, names);
	opterr = 0;
	do {
		optind = 0; /* begin anew */
		while ((at = optind, found = getopt_long(argc, argv, letters,
							 names, NULL)) != -1) {
			if (found == '?' || found == ':')
				wrong_option(found, argv[optind - 1]);
			if (found == IN_ORDER)
				optind += table->word(context,
						      argv + optind - 1) -
					  1;
			else if (found >= OF_LONG)
				take(&table->options[found - OF_LONG], true,
				     context);
			else
				take(by_letter(found), false, context);
		}
		/* (the "--" stands where the tool's name would) */
		again = table->dashes && optind > at && table->dashes(context);
		if (again) {
			argv += optind - 1;
			argc -= optind - 1;
		}
	} while (again);
	while (table->word && optind < argc)
		optind += table->word(context, argv + optind);
	return argv + optind;
}

/* --- durations ----------------------------------------------------------- */

#define MOST_SECONDS 31536000.0
#define MOST_DIGITS 17u

uint64_t swz_duration(const char *text)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"", 1},      {"s", 1},  {"ms", 1e-3}, {"us", 1e-6},
		     {"ns", 1e-9}, {"m", 60}, {"h", 3600}};
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
	swz_make_printable(text, "\n");
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
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	if (text)
		swz_make_printable(text, "\n");
	fprintf(stderr, "swizzle: %s\nTry '%s --help'.\n",
		text ? text : "no memory", tool);
	free(text);
	exit(SWZ_WRONG_USAGE);
}

void swz_finish_printing(void)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "swizzle: standard output: %s\n",
			strerror(errno));
		exit(EXIT_FAILURE);
	}
	exit(EXIT_SUCCESS);
}
