#ifndef SWZ_THUNKS_USUAL_H
#define SWZ_THUNKS_USUAL_H

/* The length of the instructions that most code is made of, without a
 * disassembler. */

#include "image/elf_view.h"

/* The length of the instruction that `code` begins with, if it is one of those
 * for which swz_encoding_read and capstone always agree; otherwise, and if it
 * is cut off, 0, which says nothing. Needs swz_usual_init. */
unsigned swz_usual_length(struct swz_bytes code);

/* Prepares the tables; more than once does no harm. */
void swz_usual_init(void);

#endif
