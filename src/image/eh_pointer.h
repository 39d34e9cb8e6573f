#ifndef SWZ_IMAGE_EH_POINTER_H
#define SWZ_IMAGE_EH_POINTER_H

/* Encoded pointers of .eh_frame (DW_EH_PE_*; LSB 5.0 section 10.5.1). Both
 * functions fail as a cursor fails, also for an encoding that they do not
 * support. Pure, thread safe, async-signal-safe. */

#include <stdint.h>

#include "image/cursor.h"

enum {
	SWZ_EH_PE_ABSPTR = 0x00,
	SWZ_EH_PE_ULEB128 = 0x01,
	SWZ_EH_PE_UDATA2 = 0x02,
	SWZ_EH_PE_UDATA4 = 0x03,
	SWZ_EH_PE_UDATA8 = 0x04,
	SWZ_EH_PE_SLEB128 = 0x09,
	SWZ_EH_PE_SDATA2 = 0x0a,
	SWZ_EH_PE_SDATA4 = 0x0b,
	SWZ_EH_PE_SDATA8 = 0x0c,
	SWZ_EH_PE_FORMAT = 0x0f,
	SWZ_EH_PE_PCREL = 0x10,
	SWZ_EH_PE_DATAREL = 0x30,
	SWZ_EH_PE_ALIGNED = 0x50,
	SWZ_EH_PE_APPLICATION = 0x70,
	SWZ_EH_PE_INDIRECT = 0x80,
	SWZ_EH_PE_OMIT = 0xff
};

/* Reads the stored value in the encoding's format (its low four bits), signed
 * ones extended, and applies nothing to it. */
uint64_t swz_eh_read_value(struct swz_cursor *cursor, uint8_t encoding);

/* Reads an absolute or pc-relative pointer; base is the address of the cursor's
 * first byte. */
uint64_t swz_eh_read_pointer(struct swz_cursor *cursor, uint8_t encoding,
			     uint64_t base);

#endif
