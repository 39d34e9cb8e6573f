/* Output that never replaces a whole file by half of one. */

#include "profile/support/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/support/memory.h"

#define BUFFER_BYTES ((size_t)128 << 10)

/* The files that are not in their places yet; those for which there is no room
 * here are left behind where we are ended. */
#define UNFINISHED 4u
static char *volatile unfinished[UNFINISHED];

static void remove_unfinished(void)
{
	size_t i;

	for (i = 0; i < UNFINISHED; i++)
		if (unfinished[i])
			unlink(unfinished[i]);
}

/* Puts NEW in the place of OLD. */
static void note_unfinished(char *old, char *new)
{
	size_t i;

	for (i = 0; i < UNFINISHED; i++)
		if (unfinished[i] == old) {
			unfinished[i] = new;
			return;
		}
}

static void end_by(int signal)
{
	remove_unfinished();
	(void)raise(signal); /* which now does what it does by default */
}

static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

/* What the caller has told us to ignore (nohup) remains so. */
static void clean_up_when_ended(void)
{
	struct sigaction now,
		action = {.sa_handler = end_by, .sa_flags = (int)SA_RESETHAND};
	static bool done;
	size_t i;

	if (done)
		return;
	done = true;
	(void)atexit(remove_unfinished); /* out of memory */
	for (i = 0; i < SIGNALS; i++)
		if (sigaction(signals[i], NULL, &now) == 0 &&
		    now.sa_handler == SIG_DFL)
			(void)sigaction(signals[i], &action, NULL);
}

/* Keeps those that end us until it is known what is to be removed then. */
static void hold_signals(sigset_t *before)
{
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < SIGNALS; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, before);
}

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
	sigset_t before;

	clean_up_when_ended();
	hold_signals(&before);
	for (attempt = 0; attempt < 100 && fd < 0; attempt++) {
		free(output->temporary);
		output->temporary = swz_print("%s.tmp%d-%d", output->path,
					      (int)getpid(), attempt);
		fd = open(output->temporary,
			  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd >= 0)
		note_unfinished(NULL, output->temporary);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return fd;
}

static void release(struct swz_output *output)
{
	int error = errno;

	if (output->temporary) {
		unlink(output->temporary);
		note_unfinished(output->temporary, NULL);
	}
	free(output->temporary);
	free(output->path);
	free(output->buffer);
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
	if (output->stream) {
		/* traces become gigabytes; a page at a time takes long */
		output->buffer = malloc(BUFFER_BYTES);
		if (output->buffer)
			(void)setvbuf(output->stream, output->buffer, _IOFBF,
				      BUFFER_BYTES);
		return SWZ_OK;
	}
	if (fd >= 0)
		close(fd);
	release(output);
	return SWZ_E_SYSTEM;
}

/* What is said about a stream that has failed: some write, long ago, has, and
 * errno is that of anything since. So it is tried again; a compressed stream
 * (which has no descriptor) tells when it is closed. */
static int why_failed(FILE *stream, bool close)
{
	int fd = fileno(stream), error = 0;

	if (fd >= 0)
		error = write(fd, "\n", 1) == 1 ? EIO : errno;
	if (close && fclose(stream) != 0 && !error)
		error = errno;
	return error ? error : EIO;
}

enum swz_status swz_output_close(struct swz_output *output)
{
	int failed = fflush(output->stream) != 0 || ferror(output->stream);

	if (!output->path) { /* standard output is not ours to close */
		if (failed)
			errno = why_failed(output->stream, false);
		return failed ? SWZ_E_SYSTEM : SWZ_OK;
	}
	if (failed) {
		errno = why_failed(output->stream, true);
		release(output);
		return SWZ_E_SYSTEM;
	}
	failed = fclose(output->stream) != 0;
	if (!failed && output->temporary) {
		failed = rename(output->temporary, output->path) != 0;
		if (!failed) {
			note_unfinished(output->temporary, NULL);
			free(output->temporary);
			output->temporary = NULL;
		}
	}
	release(output);
	return failed ? SWZ_E_SYSTEM : SWZ_OK;
}

void swz_output_discard(struct swz_output *output)
{
	if (!output->path)
		return;
	fclose(output->stream);
	release(output);
}

void swz_put_integer(FILE *stream, int64_t value)
{
	uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char digits[24];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + left % 10);
	while (left /= 10);
	if (value < 0)
		digits[--at] = '-';
	fwrite_unlocked(digits + at, 1, sizeof(digits) - at, stream);
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

/* The length of what JSON has as it is at the beginning of TEXT. */
static size_t plain_length(const char *text)
{
	size_t length = 0;

	while (text[length] >= 0x20 && text[length] < 0x7f &&
	       text[length] != '"' && text[length] != '\\' &&
	       text[length] != '<')
		length++;
	return length;
}

void swz_put_json(FILE *stream, const char *text)
{
	putc('"', stream);
	while (*text) {
		size_t plain = plain_length(text), length;
		unsigned char c;

		fwrite_unlocked(text, 1, plain, stream);
		text += plain;
		if (!*text)
			break;
		length = swz_utf8_length(text);
		c = (unsigned char)*text;
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

void swz_put_csv_part(FILE *stream, const char *text)
{
	for (; *text; text++) {
		char c[2] = {*text, '\0'};

		if (*text == '"')
			putc('"', stream);
		swz_put_text(stream, c);
	}
}

void swz_put_csv(FILE *stream, const char *text)
{
	if (!strpbrk(text, "\",")) {
		swz_put_text(stream, text);
		return;
	}
	putc('"', stream);
	swz_put_csv_part(stream, text);
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
