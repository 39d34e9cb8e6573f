#ifndef SWZ_OPTIONS_CONFIG_FILE_H
#define SWZ_OPTIONS_CONFIG_FILE_H

/* The configuration of one function: its rules that match, added up in their
 * order. Of each key the last one counts; conditions all count. */
/* --- sections and keys --------------------------------------------------- */
/* The configuration file (--config): what is recorded of which functions, and
 * how calls are shown. Sections name functions, classes, source files, modules
 * or types; keys say what is true of them:
 *
 *     # a comment
 *     [func@send_*]
 *     list_args = yes
 *     only_show_if = arg,topic,==,"shutdown"
 *
 * docs/config.md has all keys. The text is not trusted. Pure, but for memory.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- names of numbers ----------------------------------------------------- */

/* Names of numbers: from the configuration ([type@...] names = ...), and from a
 * C header's #defines and enums. */

struct swz_value_name {
	char *name; /* owned */
	int64_t value;
};

/* Begins with zeros. */
struct swz_value_names {
	struct swz_value_name *items;
	size_t count, capacity;
};

void swz_value_names_free(struct swz_value_names *names);

/* NAME has LENGTH bytes. False: no memory. */
bool swz_value_names_add(struct swz_value_names *names, const char *name,
			 size_t length, int64_t value);

/* Evaluates a constant expression of C, which may have NAMES, all of TEXT.
 * False: it is none, or has a name or a macro that is not known. */
bool swz_value_expression(const struct swz_value_names *names, const char *text,
			  size_t length, int64_t *value);

/* Adds what a C header defines: "#define NAME EXPRESSION" and the values of
 * enums, whatever #if says. What cannot be evaluated is left out. The text is
 * not trusted. False: no memory. */
bool swz_value_names_read(struct swz_value_names *names, const char *text,
			  size_t size);

enum swz_rule_kind {
	SWZ_RULE_FUNCTION,
	SWZ_RULE_CLASS,
	SWZ_RULE_FILE,
	SWZ_RULE_MODULE,
	SWZ_RULE_PRINTER, /* of a type: what objects have in them */
	SWZ_RULE_TYPE,    /* of a type: what numbers stand for */
	SWZ_RULE_KINDS
};

enum swz_operator {
	SWZ_EQUAL,
	SWZ_NOT_EQUAL,
	SWZ_LESS,
	SWZ_LESS_OR_EQUAL,
	SWZ_GREATER,
	SWZ_GREATER_OR_EQUAL,
	SWZ_MATCHES, /* a text, a pattern as in -F */
	SWZ_OPERATORS
};

enum swz_operand_kind {
	SWZ_OPERAND_INTEGER,
	SWZ_OPERAND_FLOAT,
	SWZ_OPERAND_TEXT,
	SWZ_OPERAND_NAME, /* of an enum's value */
	SWZ_OPERAND_NULL
};

enum swz_condition_kind {
	SWZ_IF_BACKTRACE, /* `name` matches one of the `levels` callers */
	SWZ_IF_ARGUMENT,  /* `name` compared with the operand; "*n" is what n
			   * points at */
	SWZ_IF_RESULT
};

struct swz_condition {
	enum swz_condition_kind kind;
	unsigned levels;
	char *name;
	enum swz_operator op;
	enum swz_operand_kind operand;
	int64_t integer; /* also of a float, cut */
	double number;   /* also of an integer */
	char *text;
	unsigned line;
};

/* A value that a section may leave open. */
enum swz_choice { SWZ_UNSET = 0, SWZ_YES, SWZ_NO, SWZ_NO_CALLS };

struct swz_rule {
	enum swz_rule_kind kind;
	char *pattern;
	unsigned line;
	enum swz_choice show, list_args, dump_this, is_errno, prints;
	char *printed; /* of prints: which argument; NULL: the first text */
	char **fields; /* of dump_this; NULL: all */
	size_t field_count;
	/* Arguments and fields of them: "n", "req.uri", "ctx->depth". */
	char **arguments; /* of list_args; NULL: all */
	size_t argument_count;
	char **watches; /* of watch */
	size_t watch_count;
	struct swz_condition *conditions; /* of only_show_if: all must hold */
	size_t condition_count;
	struct swz_condition *exceptional; /* of a result: any must hold */
	size_t exceptional_count;
	bool never_exceptional; /* exceptional = no */
	char *prefix, *band;
	char *colour;   /* one of swz_config_colour_at() */
	uint32_t depth; /* 0: unset */
	/* of a printer: fields, "a" or "a.b", or NULL */
	char *text, *length, *size, *pointer;
	/* of a type; `exceptional` above, too */
	struct swz_value_names names;
	char **name_files; /* C headers with more of them ... */
	size_t name_file_count;
	char **name_patterns; /* ... of which those that match; none: all */
	size_t name_pattern_count;
	unsigned names_line;
	unsigned base; /* 8, 10, 16; 0: unset */
};

struct swz_config_file {
	struct swz_rule *rules;
	size_t count, capacity;
};

#define SWZ_CONFIG_PROBLEM_BYTES 1024u

/* Adds the rules of a TEXT of SIZE bytes, of a file that is called NAME. False:
 * PROBLEM then says what is wrong, with file, line and key. */
bool swz_config_file_add(struct swz_config_file *config, const char *name,
			 const char *text, size_t size,
			 char problem[SWZ_CONFIG_PROBLEM_BYTES]);
void swz_config_file_free(struct swz_config_file *config);

/* Reads the files that apply: PATH, or without one (NULL)
 * ~/.config/swizzle/config and then ./.swizzle, where they are there. False:
 * PROBLEM then says what is wrong, and errno is ENOMEM if memory was. */
bool swz_config_file_read(struct swz_config_file *config, const char *path,
			  char problem[SWZ_CONFIG_PROBLEM_BYTES]);

/* Colours of terminals that there are; NULL: past the end. */
const char *swz_config_colour_at(size_t index);

/* The pattern of functions that a rule of functions or classes stands for;
 * to be freed. NULL: it is of others. */
char *swz_rule_functions(const struct swz_rule *rule);

/* True if arguments or results have to be recorded for it. */
bool swz_rule_needs_values(const struct swz_rule *rule);

/* Compares; of SWZ_MATCHES only texts. */
bool swz_condition_holds_integer(const struct swz_condition *c, int64_t value,
				 bool is_unsigned);
bool swz_condition_holds_float(const struct swz_condition *c, double value);
bool swz_condition_holds_text(const struct swz_condition *c, const char *text,
			      size_t length);

/* --- settings of one function -------------------------------------------- */

#define SWZ_MOST_CONDITIONS 32u

/* Begins with zeros. Refers to the rules. */
struct swz_settings {
	enum swz_choice show, list_args, dump_this, is_errno, prints;
	const char *printed; /* which argument has the text; NULL: the first
			      * that is one */
	const struct swz_rule *fields; /* of dump_this; NULL: all */
	const struct swz_rule *listed; /* list_args: its arguments; NULL: all */
	const struct swz_rule *watched; /* its watches; NULL: none */
	const char *prefix, *band, *colour;
	uint32_t depth;
	bool never_exceptional;
	const struct swz_condition *conditions[SWZ_MOST_CONDITIONS];
	unsigned condition_count;
	/* of the last rule that has any */
	const struct swz_condition *exceptional;
	size_t exceptional_count;
};

void swz_settings_add(struct swz_settings *settings,
		      const struct swz_rule *rule);

/* True if a rule of files or modules matches a path: all of it, or its last
 * part. */
bool swz_rule_matches_path(const struct swz_rule *rule, const char *path);

#endif
