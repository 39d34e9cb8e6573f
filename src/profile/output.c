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

size_t swz_utf8_length(const char *text)
{
	const unsigned char *t = (const unsigned char *)text;
	size_t length = t[0] < 0x80   ? 1
			: t[0] < 0xc2 ? 0
			: t[0] < 0xe0 ? 2
			: t[0] < 0xf0 ? 3
			: t[0] < 0xf5 ? 4
				      : 0;
	size_t i;

	for (i = 1; i < length; i++)
		if ((t[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, and what lies above U+10FFFF */
	if ((t[0] == 0xe0 && t[1] < 0xa0) || (t[0] == 0xed && t[1] > 0x9f) ||
	    (t[0] == 0xf0 && t[1] < 0x90) || (t[0] == 0xf4 && t[1] > 0x8f))
		return 0;
	return length;
}

void swz_put_json(FILE *stream, const char *text)
{
	putc('"', stream);
	while (*text) {
		size_t length = swz_utf8_length(text);
		unsigned char c = (unsigned char)*text;

		if (!length)
			fputs("\\ufffd", stream);
		else if (c < 0x20 || c == 0x7f)
			fprintf(stream, "\\u%04x", (unsigned int)c);
		else if (c == '"' || c == '\\')
			fprintf(stream, "\\%c", c);
		else if (c == '<' && (text[1] == '/' || text[1] == '!'))
			fputs("\\u003c", stream);
		else
			fwrite(text, 1, length, stream);
		text += length ? length : 1;
	}
	putc('"', stream);
}

void swz_put_csv(FILE *stream, const char *text)
{
	if (!strpbrk(text, "\",")) {
		swz_put_text(stream, text);
		return;
	}
	putc('"', stream);
	for (; *text; text++) {
		char c[2] = {*text, '\0'};

		if (*text == '"')
			putc('"', stream);
		swz_put_text(stream, c);
	}
	putc('"', stream);
}

const char *swz_base_name(const char *path)
{
	const char *slash;

	if (!path)
		return "-";
	slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}
