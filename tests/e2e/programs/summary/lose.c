#include <stddef.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "swizzle/format.h"
int main(int argc, char **argv)
{
	uint64_t lost = strtoull(argv[2], NULL, 10);
	uint32_t full = (uint32_t)strtoul(argv[3], NULL, 10);
	int fd = argc == 4 ? open(argv[1], O_WRONLY) : -1;

	return pwrite(fd, &lost, sizeof(lost), offsetof(struct swz_file_header,
			      lost_calls)) != sizeof(lost) ||
	       pwrite(fd, &full, sizeof(full), offsetof(struct swz_file_header,
			      full)) != sizeof(full);
}
