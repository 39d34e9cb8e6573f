#ifndef SWZ_OPTIONS_WORDS_H
#define SWZ_OPTIONS_WORDS_H

/* Words of which one is to be given: names of options, formats, modes. All
 * tools take the same abbreviations and say the same of a wrong word. */

#include <stddef.h>

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

#endif
