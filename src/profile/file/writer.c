#include "profile/file/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

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

#define WAIT_NS 2000000
#define MOST_WAITS 2500 /* 5 s */

static bool read_header(int fd, struct swz_file_header *header)
{
	return pread(fd, header, sizeof(*header), 0) == sizeof(*header) &&
	       memcmp(header->magic, SWZ_FILE_MAGIC, sizeof(header->magic)) ==
		       0;
}

bool swz_wait_for_sampler(const char *path)
{
	const struct timespec pause = {0, WAIT_NS};
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct swz_file_header header;
	int waits = 0;

	if (fd < 0)
		return false;
	if (read_header(fd, &header) && header.flags & SWZ_FILE_SAMPLES &&
	    !(header.flags & SWZ_FILE_ENDED) &&
	    swz_process_start(header.pid) != header.process_start)
		for (; waits < MOST_WAITS; waits++) {
			if (flock(fd, LOCK_SH | LOCK_NB) == 0 ||
			    errno != EWOULDBLOCK)
				break;
			nanosleep(&pause, NULL);
		}
	close(fd);
	return waits > 0;
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
