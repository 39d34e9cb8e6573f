#ifndef SWZ_RUNTIME_DISCOVERY_SCAN_DATA_H
#define SWZ_RUNTIME_DISCOVERY_SCAN_DATA_H

/* Data that has the symbol of a function. */

#include <stdbool.h>
#include <stdint.h>

#include "thunks/encoding.h"

struct swz_module;

/* Opcodes that no compiler makes, and that bytes which are no code have often:
 * zeros (add %al, (%rax)), letters (ins, outs), port access, far transfers,
 * int n, 64-bit offsets; and prefixes that are as rare. */
bool swz_opcode_is_odd(struct swz_bytes code,
		       const struct swz_encoding *encoding);

/* Whether what is there, as ELF virtual addresses, begins with a few
 * instructions that lead nowhere else in it, and is data behind them. */
bool swz_is_data(const struct swz_module *module, uint64_t start, uint64_t end);

/* Whether all that is there is the type of the function behind it, as clang's
 * -fsanitize=kcfi has callers through pointers compare it: the immediate of an
 * instruction, with no-operations around it. */
bool swz_is_type(const struct swz_module *module, uint64_t start, uint64_t end);

#endif
