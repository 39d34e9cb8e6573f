#include "image/eh_pointer.h"

uint64_t swz_eh_read_value(struct swz_cursor *cursor, uint8_t encoding)
{
	switch (encoding & SWZ_EH_PE_FORMAT) {
	case SWZ_EH_PE_ABSPTR:
	case SWZ_EH_PE_UDATA8:
	case SWZ_EH_PE_SDATA8:
		return swz_cursor_u64(cursor);
	case SWZ_EH_PE_UDATA2:
		return swz_cursor_u16(cursor);
	case SWZ_EH_PE_UDATA4:
		return swz_cursor_u32(cursor);
	case SWZ_EH_PE_SDATA2:
		return (uint64_t)(int16_t)swz_cursor_u16(cursor);
	case SWZ_EH_PE_SDATA4:
		return (uint64_t)(int32_t)swz_cursor_u32(cursor);
	case SWZ_EH_PE_ULEB128:
		return swz_cursor_uleb(cursor);
	case SWZ_EH_PE_SLEB128:
		return (uint64_t)swz_cursor_sleb(cursor);
	default:
		cursor->failed = true;
		return 0;
	}
}

uint64_t swz_eh_read_pointer(struct swz_cursor *cursor, uint8_t encoding,
			     uint64_t base)
{
	uint64_t here = base + cursor->at;
	uint64_t value = swz_eh_read_value(cursor, encoding);

	switch (encoding & (SWZ_EH_PE_APPLICATION | SWZ_EH_PE_INDIRECT)) {
	case 0:
		return value;
	case SWZ_EH_PE_PCREL:
		return here + value;
	default:
		cursor->failed = true;
		return 0;
	}
}
