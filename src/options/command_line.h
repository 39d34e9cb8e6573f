#ifndef SWZ_OPTIONS_COMMAND_LINE_H
#define SWZ_OPTIONS_COMMAND_LINE_H

/* The command lines of all tools: they take the same abbreviations, say the
 * same of a wrong word, read durations alike and end with the same status. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- words of which one is to be given ----------------------------------- */

/* Words of which one is to be given: names of options, formats, modes. All
 * tools take the same abbreviations and say the same of a wrong word. */

/* The word at INDEX, in the order in which they are shown; NULL: past the end.
 * "" is skipped. */
typedef const char *swz_word_at(size_t index);

/* For results of swz_word_find. */
enum { SWZ_WORD_UNKNOWN = -1, SWZ_WORD_AMBIGUOUS = -2 };

#define SWZ_ADVICE_BYTES 512u

/* The index of the word that the LENGTH characters at WORD are, or, if none is,
 * of the only one that begins so. */
int swz_word_find(swz_word_at *at, const char *word, size_t length);

/* The index of the word; SWZ_WORD_UNKNOWN: none is that. */
int swz_word_is(swz_word_at *at, const char *word, size_t length);

/* The word that WORD was probably meant to be: most of its letters are the
 * same. NULL: none. */
const char *swz_word_meant(swz_word_at *at, const char *word, size_t length);

/* To be put behind "unknown mode 'trce'": "; did you mean 'trace'? There are:
 * profile, trace" */
void swz_word_advice(swz_word_at *at, const char *word,
		     char text[SWZ_ADVICE_BYTES]);

/* The words that begin as WORD does: "start, status". */
void swz_word_beginnings(swz_word_at *at, const char *word,
			 char text[SWZ_ADVICE_BYTES]);

/* Writes all that is to be said of an option that is unknown or that could be
 * several. ARGUMENT: as it was given, "--mdoe=trace". */
void swz_option_complaint(swz_word_at *at, const char *argument,
			  char text[SWZ_ADVICE_BYTES]);

/* --- options ------------------------------------------------------------- */

/* One table says all about a tool's options: the parser, --help, the settings
 * in the environment and the completions of the shells are made from it
 * (completions/generate.c). A test holds the manual against it. */

struct swz_option {
	const char *name; /* NULL: it has only a letter */
	/* "FILE" is needed, "[=WHEN]" may be left out; NULL: it has none. */
	const char *value;
	/* The text of --help, in one line. A | ends the part that the shells
	 * show, unless .brief has a better one. NULL: not to be shown. */
	const char *help, *brief;
	/* The kind of its value: "files", "directories", "pids", or the name of
	 * a function in completions/. NULL: words, or nothing that can be
	 * offered. */
	const char *offer;
	swz_word_at *words;
	const char *variable; /* of the environment; NULL: none */
	const char *sets;     /* what the option without a value sets it to */
	int id;               /* the tool's; 0: the letter is */
	const char *heading;  /* of the group that begins here (--help=all) */
	unsigned group;       /* the tool's */
	char letter;          /* or 0 */
	bool repeats;
	bool common;    /* most people need it: the short --help has it */
	bool only_help; /* another form of the option before */
	/* The name that this one has now, "--rounds": it goes on for a release,
	 * with a line that says so. .help is NULL. */
	const char *renamed;
};

enum swz_option_words {
	SWZ_WORDS_PROGRAM, /* options end at the first word */
	SWZ_WORDS_FILES,
	SWZ_WORDS_COMMAND, /* the first is one of .commands */
};

struct swz_option_table {
	const char *tool; /* "swizzle-run" */
	/* The texts of --help around the options. The short one ends with the
	 * examples; it has all options if none is .common. */
	const char *before, *examples, *after;
	const struct swz_option *options; /* SWZ_OPTIONS_OF_ALL ends them */
	unsigned column; /* where the texts of --help begin, from 0 */
	enum swz_option_words kind;
	swz_word_at *commands;
	/* AS: "-o" or "--output", kept until the program ends. VALUE is NULL
	 * where none was given. */
	void (*take)(void *context, const struct swz_option *option,
		     const char *as, const char *value);
	/* Words that are no options, unless they end them; returns how many it
	 * has used of those at WORDS. */
	int (*word)(void *context, char **words);
	/* "--"; true: it does not end the options. NULL: it means nothing more.
	 */
	bool (*dashes)(void *context);
};

/* -V and -h, which swz_options_parse() does itself, and the end. */
#define SWZ_OPTIONS_OF_ALL \
	{.name = "version", \
	 .letter = 'V', \
	 .help = "print the version and exit"}, \
		{.name = "help", \
		 .letter = 'h', \
		 .value = "[=all]", \
		 .words = swz_help_at, \
		 .common = true, \
		 .help = "print the options that most people need, or all, " \
			 "and exit", \
		 .brief = "print help and exit"}, \
	{ \
		.name = NULL \
	}

swz_word_at swz_help_at; /* "all" */

/* False: it is the end. */
static inline bool swz_option_is(const struct swz_option *option)
{
	return option->name || option->letter;
}

/* Reads ARGV, which begins with the tool's name. Returns the first word of the
 * program, or the end. Does not return if something is wrong. */
char **swz_options_parse(const struct swz_option_table *table, char **argv,
			 void *context);

/* --- durations ----------------------------------------------------------- */

/* Durations, as all tools take them: "0.5s", "500ms", "10us", "100ns", "2m",
 * "1h"; "10" is of seconds. */

/* Examples for messages. */
#define SWZ_DURATION_EXAMPLES "500ms, 10s, 2m"

/* In ns; 0: it is none, or not between 1 ns and a year. */
uint64_t swz_duration(const char *text);

/* --- lines on standard error --------------------------------------------- */

/* Says on standard error what does not keep the program from being run. A pipe
 * that nobody reads must not, either: if it has no reader, no signal comes, and
 * if it stays full for 0.1 s nothing is said. FORMAT has the whole line but
 * "swizzle: " and its end; at most 1023 bytes are written. */
__attribute__((format(printf, 1, 2))) void swz_notice(const char *format, ...);

/* The same of whole lines. */
void swz_notice_write(const char *text, size_t length);

/* Where standard input, output or error is closed, no file of ours may take its
 * place: it would get what is meant for that. To write there fails still.
 * FLAGS: 0 or O_CLOEXEC. */
void swz_keep_standard_descriptors(int flags);

/* --- variables of the environment ---------------------------------------- */

/* Misspelt settings in the environment, which would do nothing without a
 * word. */

/* The variables that swizzle-dump reads. */
swz_word_at swz_variables_of_dump;

/* Says on standard error which variables SWIZZLE_... are none of KNOWN, and
 * what each was probably meant to be. Those of tests, SWIZZLE_TEST_..., are
 * left alone. With NEAR only those are said that are near misses: the caller
 * knows a part of all settings. */
void swz_variables_check(swz_word_at *known, bool near);

/* --- ends that only concern the command line ----------------------------- */

/* How a tool ends that only reads its command line. */

/* The exit status of all tools for a wrong command line. */
enum { SWZ_WRONG_USAGE = 2 };

/* Says on standard error what is wrong, and how to get TOOL's help. */
_Noreturn __attribute__((format(printf, 2, 3))) void swz_wrong_usage(
	const char *tool, const char *format, ...);

/* Ends with status 0, or with 1 if what was printed cannot be written. */
_Noreturn void swz_finish_printing(void);

#endif
