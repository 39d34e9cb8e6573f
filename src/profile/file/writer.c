#include "profile/file/writer.h"

#include <errno.h>
#include <stddef.h>
#include <sys/file.h>

#include "base/process_start.h"

bool swz_has_writer(int fd, const struct swz_file_header *header)
{
	if (flock(fd, LOCK_SH | LOCK_NB) == 0)
		(void)flock(fd, LOCK_UN);
	else if (errno == EWOULDBLOCK)
		return true;
	return !(header->flags & SWZ_FILE_ENDED) && header->process_start &&
	       header->pid > 0 &&
	       swz_process_start(header->pid) == header->process_start;
}

const char *swz_full_reason(const struct swz_file_header *header)
{
	switch (header->full) {
	case SWZ_FULL_NOT:
		return NULL;
	case SWZ_FULL_DISK:
		return "the disk was full";
	case SWZ_FULL_LIMIT:
		return "longer files were not allowed (ulimit -f)";
	case SWZ_FULL_NAME:
		return "the file was removed, or the process could not open it "
		       "any more";
	case SWZ_FULL_MEMORY:
		return "there was no memory";
	default:
		return "there was no more room";
	}
}
