#include "base/file_bound.h"

#include "swizzle/format.h"

const char *swz_file_bound(uint32_t full, uint32_t flags, const char *option)
{
	switch (full) {
	case SWZ_FULL_NOT:
		return flags & SWZ_FILE_SHORT ? "ulimit -f" : option;
	case SWZ_FULL_DISK:
		return "disk full";
	case SWZ_FULL_LIMIT:
		return "ulimit -f";
	case SWZ_FULL_NAME:
		return "file removed or not to be opened";
	default:
		return "no memory";
	}
}
