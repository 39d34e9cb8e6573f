#ifndef SWZ_WATCH_NAMES_SCRIPT_CODES_H
#define SWZ_WATCH_NAMES_SCRIPT_CODES_H

/* Names of a script's code that were read already. The interpreter's object for
 * some code is known by its address, and by what it says itself, since another
 * one may take its place. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/memory.h"

struct swz_script_object {
	uint64_t name, file; /* addresses of texts */
	uint64_t lines;      /* address of its table of lines; or 0 */
	uint64_t owner; /* whose code it is, where there may be several; or 0 */
	uint32_t line;
};

struct swz_known_object {
	struct swz_script_object object;
	struct swz_script_code *code;
};

/* How many of a stack are known by their address alone. */
#define SWZ_MET_CODES 64u

struct swz_met_code {
	uint64_t address, owner;
	const struct swz_script_code *code;
};

struct swz_script_codes {
	struct swz_map by_address;
	struct swz_known_object *objects;
	size_t object_count, object_capacity;
	struct swz_script_code **codes;
	size_t code_count, code_capacity;
	uint64_t last_number;
	struct swz_met_code met[SWZ_MET_CODES];
};

/* So many are known at most, of programs that make ever new code. */
#define SWZ_MOST_CODES 16384u

/* A stack is read: until the next one nothing changes, and what was met needs
 * not be looked at again. True: all that was known is forgotten, as it was too
 * much. */
bool swz_script_codes_begin_stack(struct swz_script_codes *codes);

/* The code that was met at that address, with that owner; NULL: nothing so far,
 * or it is not known any more. */
const struct swz_script_code *swz_script_codes_met(
	const struct swz_script_codes *codes, uint64_t address, uint64_t owner);

/* Returns the code; NULL is nothing that is met. */
const struct swz_script_code *swz_script_codes_meet(
	struct swz_script_codes *codes, uint64_t address, uint64_t owner,
	const struct swz_script_code *code);

/* The code at that address, if it is still the same; NULL: not known. It lives
 * until the next stack. */
const struct swz_script_code *swz_script_codes_get(
	const struct swz_script_codes *codes, uint64_t address,
	const struct swz_script_object *object);

/* Adds it, with texts that were allocated, and are given back here in any case.
 * NULL: one of them is NULL or empty. */
struct swz_script_code *swz_script_codes_add(
	struct swz_script_codes *codes, uint64_t address,
	const struct swz_script_object *object, char *name, char *file);

/* The same, of code that begins on another line than the object says. */
struct swz_script_code *swz_script_codes_add_at(
	struct swz_script_codes *codes, uint64_t address,
	const struct swz_script_object *object, char *name, char *file,
	uint32_t line);

void swz_script_codes_free(struct swz_script_codes *codes);

/* --- frames -------------------------------------------------------------- */

/* Functions of a script, as the interpreter's own frames have them. */

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

/* --- maps of code -------------------------------------------------------- */

/* Names of the code that a process makes at run time, from what it writes for
 * profilers: /tmp/perf-PID.map, and jitdump files. Nothing in these files is
 * trusted, and only files that belong to root, to the user or to the process's
 * user are read. */

struct swz_code_names;

/* PROCESS_START: as swz_process_start(). Files that are older were written by
 * somebody else with that number. */
struct swz_code_names *swz_code_names_open(int32_t pid, uint64_t process_start);

/* A forked child's: what its parent's code is called, and what comes. */
struct swz_code_names *swz_code_names_fork(const struct swz_code_names *parent,
					   int32_t pid, uint64_t process_start);

/* The process has mapped a file to be executed. That marks a jitdump file:
 * jit-PID.dump. */
void swz_code_names_mapped(struct swz_code_names *names, const char *path);

/* Reads what has been written since. NOW_NS: CLOCK_MONOTONIC. */
void swz_code_names_refresh(struct swz_code_names *names, uint64_t now_ns);

/* The name of the code at ADDRESS at that time (CLOCK_MONOTONIC); NULL: not
 * known so far. Valid until the next call. */
const char *swz_code_names_find(struct swz_code_names *names, uint64_t address,
				uint64_t time_ns);

/* Grows when there are more names than before. */
uint32_t swz_code_names_count(const struct swz_code_names *names);

/* True if there is a jitdump file. */
bool swz_code_names_have_times(const struct swz_code_names *names);

void swz_code_names_close(struct swz_code_names *names);

#endif
