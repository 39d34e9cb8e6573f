#ifndef SWZ_TESTS_MODULE_BUILDER_H
#define SWZ_TESTS_MODULE_BUILDER_H

/* A module in memory, for unit tests of what plans: text, constants and data at
 * fixed addresses, functions that the test adds, and a decoder. */

#include <stddef.h>
#include <stdint.h>

#include "runtime/discovery/function.h"
#include "thunks/relocate.h"

/* ELF virtual addresses. */
enum {
	MODULE_TEXT = 0x21000000,
	MODULE_CONSTANTS = MODULE_TEXT + 0x8000, /* readable */
	MODULE_DATA = MODULE_TEXT + 0xc000, /* writable: the file has others */
	MODULE_END = MODULE_TEXT + 0x10000,
	MODULE_MOST_FUNCTIONS = 32
};

struct built_module {
	struct swz_module m;
	struct swz_decoder *decoder;
	ElfW(Phdr) segments[3];
	struct swz_function functions[MODULE_MOST_FUNCTIONS];
};

/* Empties it: int3 in the text, zeros elsewhere. There is one at a time. */
void module_begin(struct built_module *built);

/* The same of a program at a fixed address. */
void module_begin_fixed(struct built_module *built);

/* Writes to memory and file alike. */
void module_put(uint64_t address, const void *bytes, size_t size);

/* Writes a number of 4 bytes there, in memory or in the file alone. */
void module_put32(uint64_t address, int64_t value);
void module_put32_in_file(uint64_t address, int64_t value);

/* Adds a function, behind those that are there, with that code. */
struct swz_function *module_function(struct built_module *built, uint64_t start,
				     const void *code, size_t size);

/* Takes the instruction there apart, which must be one. */
struct swz_encoding module_encoding(const struct built_module *built,
				    uint64_t address, uint64_t *next);

#endif
