/* Writes what the shells are told of a tool's options: generate SHELL TOOL. The
 * tables that the tools read their command lines by are all that it knows;
 * completions/make puts the rest around it. */

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ctl.h"
#include "launch/run_options.h"
#include "options/command_line.h"
#include "tools/dump/dump_options.h"
#include "top/session.h"

static const struct swz_option_table *table;
static char prefix[32]; /* of functions: "_swizzle_run" */

static bool is_shown(const struct swz_option *o)
{
	return o->help && !o->only_help;
}

static bool is_optional(const struct swz_option *o)
{
	return o->value && *o->value == '[';
}

static bool is_needed(const struct swz_option *o)
{
	return o->value && *o->value != '[';
}

static void print_words(swz_word_at *at)
{
	const char *word;

	for (size_t i = 0; (word = at(i)); i++)
		printf("%s%s", i ? " " : "", word);
}

/* The option's text with a backslash before each of SPECIAL, for what stands
 * within single quotes. */
static void print_text(const struct swz_option *o, const char *special)
{
	const char *text = o->brief ? o->brief : o->help;

	for (; *text && (*text != '|' || o->brief); text++) {
		if (*text == '\'') {
			fputs("'\\''", stdout);
			continue;
		}
		if (strchr(special, *text))
			putchar('\\');
		putchar(*text);
	}
}

/* Its names with SEPARATOR between them. */
static void print_names(const struct swz_option *o, const char *separator)
{
	if (o->letter)
		printf("-%c%s", o->letter, o->name ? separator : "");
	if (o->name)
		printf("--%s", o->name);
}

/* --- bash ---------------------------------------------------------------- */

/* The function _TOOL_value sets what is offered for an option's value. Its
 * status is 1 where it takes none, and 2 where it need not have one. */
static void write_bash(void)
{
	printf("%s_options='", prefix);
	for (const struct swz_option *o = table->options; swz_option_is(o); o++)
		if (is_shown(o)) {
			print_names(o, " ");
			putchar(' ');
		}
	printf("'\n\n%s_value() {\n\toffer='' words=''\n\tcase $1 in\n",
	       prefix);
	for (const struct swz_option *o = table->options; swz_option_is(o);
	     o++) {
		if (!o->value || !is_shown(o))
			continue;
		putchar('\t');
		print_names(o, " | ");
		putchar(')');
		if (o->words) {
			printf(" words='");
			print_words(o->words);
			putchar('\'');
		}
		if (o->offer)
			printf(" offer=%s", o->offer);
		printf("%s return %d ;;\n", o->words || o->offer ? ";" : "",
		       is_optional(o) ? 2 : 0);
	}
	printf("\t*) return 1 ;;\n\tesac\n}\n\n");
	if (table->commands) {
		printf("%s_commands='", prefix);
		print_words(table->commands);
		printf("'\n\n");
	}
}

/* --- zsh ----------------------------------------------------------------- */

static bool has_opposite(const struct swz_option *o, char name[32])
{
	if (!o->name || o->value)
		return false;
	if (strncmp(o->name, "no-", 3) == 0)
		snprintf(name, 32, "%s", o->name + 3);
	else
		snprintf(name, 32, "no-%s", o->name);
	for (const struct swz_option *i = table->options; swz_option_is(i); i++)
		if (i->name && !i->value && is_shown(i) &&
		    strcmp(i->name, name) == 0)
			return true;
	return false;
}

/* "[=WHEN]" is "when". */
static void print_value_name(const char *value)
{
	for (; *value && *value != '#'; value++)
		if (isalpha((unsigned char)*value) || *value == '@' ||
		    *value == ' ')
			putchar(tolower((unsigned char)*value));
}

static void print_zsh_offer(const struct swz_option *o)
{
	if (o->words) {
		putchar('(');
		print_words(o->words);
		putchar(')');
	} else if (o->offer && strcmp(o->offer, "files") == 0) {
		printf("_files");
	} else if (o->offer && strcmp(o->offer, "directories") == 0) {
		printf("_files -/");
	} else if (o->offer && strcmp(o->offer, "pids") == 0) {
		printf("_pids");
	} else if (o->offer) {
		printf("%s_%s", prefix, o->offer);
	} else if (strcmp(o->value, "URL") == 0) {
		printf("_urls");
	}
}

/* '(-o --output)'{-o+,--output=}'[text]:value:offer' */
static void print_zsh_option(const struct swz_option *o)
{
	const char *end = is_needed(o) ? "=" : is_optional(o) ? "=-" : "";
	char other[32];

	printf(" \\\n\t'");
	if (o->letter == 'V' || o->letter == 'h')
		printf("(- *)");
	else if (o->repeats)
		putchar('*');
	else if (has_opposite(o, other))
		printf("(--%s)", other);
	else if (o->letter && o->name)
		printf("(-%c --%s)", o->letter, o->name);
	if (o->letter && o->name)
		printf("'{-%c%s,--%s%s}'", o->letter, o->value ? "+" : "",
		       o->name, end);
	else if (o->letter)
		printf("-%c%s", o->letter, o->value ? "+" : "");
	else
		printf("--%s%s", o->name, end);
	putchar('[');
	print_text(o, ":[]\\");
	putchar(']');
	if (o->value) {
		printf(is_optional(o) ? "::" : ":");
		print_value_name(o->value);
		putchar(':');
		print_zsh_offer(o);
	}
	putchar('\'');
}

static void write_zsh(void)
{
	printf("_arguments -s -S");
	for (const struct swz_option *o = table->options; swz_option_is(o); o++)
		if (is_shown(o))
			print_zsh_option(o);
	switch (table->kind) {
	case SWZ_WORDS_PROGRAM:
		printf(" \\\n\t'(-)1:program:_command_names -e' \\\n"
		       "\t'*::argument:_normal'\n");
		break;
	case SWZ_WORDS_FILES:
		printf(" \\\n\t'*:profile:_files'\n");
		break;
	case SWZ_WORDS_COMMAND:
		printf(" \\\n\t'1:command:(");
		print_words(table->commands);
		printf(")' \\\n\t'*:process:%s_rest'\n", prefix);
		break;
	}
}

/* --- fish ---------------------------------------------------------------- */

static void print_fish_offer(const struct swz_option *o)
{
	const bool files = o->offer && strcmp(o->offer, "files") == 0;

	if (!o->value) {
		if (table->kind != SWZ_WORDS_FILES)
			printf(" -f");
		return;
	}
	printf(files ? " -r -F" : is_optional(o) ? " -f" : " -x");
	if (o->words) {
		printf(" -a '");
		print_words(o->words);
		putchar('\'');
	} else if (o->offer && !files) {
		const bool usual = strcmp(o->offer, "directories") == 0 ||
				   strcmp(o->offer, "pids") == 0;

		printf(" -a '(%s_%s)'", usual ? "__fish_complete" : prefix,
		       o->offer);
	}
}

static void write_fish(void)
{
	printf("function %s_takes_value\n    contains -- $argv[1]", prefix);
	for (const struct swz_option *o = table->options; swz_option_is(o); o++)
		if (is_shown(o) && is_needed(o)) {
			putchar(' ');
			print_names(o, " ");
		}
	printf("\nend\n\n");
	for (const struct swz_option *o = table->options; swz_option_is(o);
	     o++) {
		if (!is_shown(o))
			continue;
		printf("complete -c %s", table->tool);
		if (o->letter)
			printf(" -s %c", o->letter);
		if (o->name)
			printf(" -l %s", o->name);
		print_fish_offer(o);
		printf(" -d '");
		print_text(o, "\\");
		printf("'\n");
	}
	if (!table->commands)
		return;
	printf("set -l commands ");
	print_words(table->commands);
	putchar('\n');
}

/* ------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
	static const struct swz_option_table *const tables[] = {
		&swz_run_option_table, &swz_dump_option_table,
		&swz_top_option_table, &swz_ctl_option_table};
	static const struct {
		const char *shell, *begins;
		void (*write)(void);
	} shells[] = {{"bash", "_", write_bash},
		      {"zsh", "_", write_zsh},
		      {"fish", "__", write_fish}};

	for (size_t i = 0; argc == 3 && i < 4; i++)
		if (strcmp(tables[i]->tool, argv[2]) == 0)
			table = tables[i];
	for (size_t i = 0; table && i < 3; i++) {
		if (strcmp(shells[i].shell, argv[1]) != 0)
			continue;
		snprintf(prefix, sizeof(prefix), "%s%s", shells[i].begins,
			 table->tool);
		*strchr(prefix, '-') = '_';
		shells[i].write();
		return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	fputs("usage: generate bash|zsh|fish TOOL\n", stderr);
	return SWZ_WRONG_USAGE;
}
