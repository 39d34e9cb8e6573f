#ifndef SWZ_WATCH_NAMES_SCRIPT_FRAME_H
#define SWZ_WATCH_NAMES_SCRIPT_FRAME_H

/* Functions of a script, as the interpreter's own frames have them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Reads memory of the process up to what cannot be read; returns how much. */
typedef size_t swz_script_read(void *context, uint64_t address, void *into,
			       size_t size);

struct swz_script_code {
	uint64_t number; /* of its reader's: no other one has it */
	char *name;      /* with its line where many are called the same */
	char *file;      /* as the interpreter knows it */
	uint32_t line;   /* on which it begins */
	/* Where its lines are, as the interpreter knows it; or NULL. */
	uint8_t *line_table;
	size_t line_bytes;
	uint64_t start; /* of its instructions, if the reader wants to know */
};

struct swz_script_frame {
	/* NULL: a call of the interpreter's loop that runs no function */
	const struct swz_script_code *code;
	uint32_t line; /* that is executed; 0: not known */
	bool is_entry; /* C code has called it: it is the first of those that
			* one call of the interpreter's loop runs */
};

enum swz_script_result {
	SWZ_SCRIPT_READ,
	SWZ_SCRIPT_NONE, /* the thread runs no code of a script */
	SWZ_SCRIPT_LOST  /* something is not as it should be */
};

static inline uint32_t swz_script_half(const uint8_t *bytes, size_t at)
{
	uint32_t half;

	memcpy(&half, bytes + at, sizeof(half));
	return half;
}

/* The word that lies AT in a copy of its memory, aligned or not. */
static inline uint64_t swz_script_word(const uint8_t *bytes, size_t at)
{
	uint64_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return word;
}

#endif
