#include "runtime/record/file_full.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/syscall.h"
#include "runtime/record/file_mapping.h"
#include "runtime/record/file_name.h"
#include "runtime/support/message.h"

static const char *reason(enum swz_file_full why)
{
	switch (why) {
	case SWZ_FULL_DISK:
		return ": the disk is full; calls from now on may be lost. "
		       "Free space, or use -o";
	case SWZ_FULL_LIMIT:
		return ": longer files are not allowed (ulimit -f); calls from "
		       "now on may be lost";
	case SWZ_FULL_NAME:
		return ": the file was removed, or this process may not open "
		       "it any more; calls from now on may be lost";
	case SWZ_FULL_MEMORY:
	case SWZ_FULL_NOT:
		break;
	}
	return ": no memory; calls from now on may be lost";
}

void swz_file_is_full(struct swz_file_header *file, enum swz_file_full why,
		      uint64_t at)
{
	uint32_t none = SWZ_FULL_NOT;

	if ((int32_t)SWZ_SYSCALL(SYS_getpid) != file->pid)
		return;
	if (at < file->limit_bytes)
		file->limit_bytes = at;
	if (__atomic_compare_exchange_n(&file->full, &none, why, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
	    file == swz_file)
		swz_say(swz_file_path(), reason(why), NULL);
}
