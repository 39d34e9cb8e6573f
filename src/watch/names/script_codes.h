#ifndef SWZ_WATCH_NAMES_SCRIPT_CODES_H
#define SWZ_WATCH_NAMES_SCRIPT_CODES_H

/* Names of a script's code that were read already. The interpreter's object for
 * some code is known by its address, and by what it says itself, since another
 * one may take its place. */

#include "util/memory.h"
#include "watch/names/script_frame.h"

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

/* What was met at that address, with that owner; NULL: nothing so far, or it is
 * not known any more. */
const struct swz_script_code *swz_script_codes_met(
	const struct swz_script_codes *codes, uint64_t address, uint64_t owner);

/* Returns the code; NULL is nothing that is met. */
const struct swz_script_code *swz_script_codes_meet(
	struct swz_script_codes *codes, uint64_t address, uint64_t owner,
	const struct swz_script_code *code);

/* What is at that address, if it is still the same; NULL: not known. It lives
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

#endif
