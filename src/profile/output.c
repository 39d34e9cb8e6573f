/* Output that never replaces a whole file by half of one. */

#include "profile/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/memory.h"

/* Where the bytes have to go: through symbolic links, as a plain open() does,
 * so that the link itself is not replaced. */
static char *destination(const char *path)
{
	char *target = realpath(path, NULL);

	return target ? target : swz_duplicate(path);
}

static int create_beside(struct swz_output *output)
{
	int attempt, fd = -1;

	for (attempt = 0; attempt < 100 && fd < 0; attempt++) {
		free(output->temporary);
		output->temporary = swz_print("%s.tmp%d-%d", output->path,
					      (int)getpid(), attempt);
		fd = open(output->temporary,
			  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

static void release(struct swz_output *output)
{
	int error = errno;

	if (output->temporary)
		unlink(output->temporary);
	free(output->temporary);
	free(output->path);
	*output = (struct swz_output){0};
	errno = error;
}

enum swz_status swz_output_open(struct swz_output *output, const char *path)
{
	struct stat info;
	int fd;

	*output = (struct swz_output){0};
	if (strcmp(path, "-") == 0) {
		output->stream = stdout;
		return SWZ_OK;
	}
	output->path = destination(path);
	if (stat(output->path, &info) == 0 && !S_ISREG(info.st_mode)) {
		fd = open(output->path, O_WRONLY | O_CLOEXEC);
	} else {
		fd = create_beside(output);
		if (fd < 0) {
			free(output->temporary);
			output->temporary = NULL;
		}
	}
	output->stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (output->stream)
		return SWZ_OK;
	if (fd >= 0)
		close(fd);
	release(output);
	return SWZ_E_SYSTEM;
}

enum swz_status swz_output_close(struct swz_output *output)
{
	int failed = fflush(output->stream) != 0 || ferror(output->stream);

	if (!output->path) /* standard output is not ours to close */
		return failed ? SWZ_E_SYSTEM : SWZ_OK;
	if (failed) {
		int error = errno;

		fclose(output->stream);
		errno = error;
	} else {
		failed = fclose(output->stream) != 0;
	}
	if (!failed && output->temporary) {
		failed = rename(output->temporary, output->path) != 0;
		if (!failed) {
			free(output->temporary);
			output->temporary = NULL;
		}
	}
	release(output);
	return failed ? SWZ_E_SYSTEM : SWZ_OK;
}

void swz_put_text(FILE *stream, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		putc(c < 0x20 || c == 0x7f ? '?' : c, stream);
	}
}

const char *swz_base_name(const char *path)
{
	const char *slash;

	if (!path)
		return "-";
	slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}
