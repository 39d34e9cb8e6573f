#ifndef SWZ_THUNKS_DECODER_H
#define SWZ_THUNKS_DECODER_H

/* Between the decoder and the relocator: one instruction with its anatomy. */

#include "thunks/encoding.h"
#include "thunks/relocate.h"

/* As swz_decode, and the encoding of the same instruction. */
enum swz_status swz_decode_encoding(
	struct swz_decoder *decoder, struct swz_bytes code, uint64_t address,
	struct swz_insn *insn, struct swz_encoding *encoding) SWZ_MUST_CHECK;

/* For an assertion in capstone that does not hold (version 5 has some): what is
 * being decoded is no instruction. */
_Noreturn void swz_decoder_escape(void);

/* The length of the instruction that swz_decode would find; 0: none. */
unsigned swz_decode_length(struct swz_decoder *decoder, struct swz_bytes code);

#endif
