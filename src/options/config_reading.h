#ifndef SWZ_OPTIONS_CONFIG_READING_H
#define SWZ_OPTIONS_CONFIG_READING_H

/* What the parts of the configuration's reader share. */

#include "options/config_file.h"
#include "options/words.h"

#define SWZ_CONFIG_MOST_ITEMS 64u /* conditions of a section, fields of one */

struct swz_config_reading {
	struct swz_config_file *config;
	const char *name;
	unsigned line;
	const char *key; /* or NULL */
	char *problem;
	bool failed;
	struct swz_rule *rule; /* of the section */
};

/* "FILE:LINE: KEY: what is wrong": the first mistake counts. */
__attribute__((format(printf, 2, 3))) void swz_config_fail(
	struct swz_config_reading *r, const char *format, ...);

/* The same of a word that is none of those. */
void swz_config_fail_word(struct swz_config_reading *r, const char *what,
			  const char *word, swz_word_at *at);

char *swz_config_copy(struct swz_config_reading *r, const char *from,
		      size_t length);
void swz_config_set_text(struct swz_config_reading *r, char **to,
			 const char *from);

/* Without white space at its ends, in place. */
char *swz_config_strip(char *text);

/* The part before the next comma that is in no quotes, in place; *REST then is
 * behind it, or NULL. */
char *swz_config_next_part(char **rest);

/* "a \"text\"" in place. False: it has no end, or something behind that. */
bool swz_config_unquote(char *text);

/* Reads backtrace,N,FUNCTION; arg,NAME,OP,VALUE; retval,OP,VALUE. */
void swz_config_add_condition(struct swz_config_reading *r,
			      struct swz_condition **to, size_t *count,
			      char *value);

#endif
