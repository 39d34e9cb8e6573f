#include "util/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/printable.h"
#include "base/basics.h"
#include "util/memory.h"

/* --- progress on a terminal ---------------------------------------------- */

#define FIRST_AFTER_MS 1000
#define AGAIN_AFTER_MS 100

static struct {
	bool shown; /* at all */
	const char *doing;
	uint64_t done;
	uint64_t total;
	int64_t next_ms; /* when to draw */
	int width;       /* of what is on the terminal */
} progress;

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void swz_progress_allow(bool allowed)
{
	const char *after = getenv("SWIZZLE_PROGRESS_AFTER"); /* for tests */

	/* in the background it would be in the way of what is in front */
	progress.shown = allowed && isatty(STDERR_FILENO) &&
			 tcgetpgrp(STDERR_FILENO) == getpgrp();
	progress.next_ms = now_ms() +
			   (after ? strtol(after, NULL, 10) : FIRST_AFTER_MS);
}

void swz_progress_stage(const char *doing, uint64_t total)
{
	progress.doing = doing;
	progress.done = 0;
	progress.total = total;
	swz_progress_add(0);
}

static void draw(void)
{
	double share = 100.0 * (double)progress.done / (double)progress.total;
	int width = fprintf(stderr, "\rswizzle: %s: %d %%", progress.doing,
			    share < 100 ? (int)share : 100);

	if (width < progress.width)
		fprintf(stderr, "%*s", progress.width - width, "");
	if (width > progress.width)
		progress.width = width;
	fflush(stderr);
}

void swz_progress_add(uint64_t amount)
{
	int64_t now;

	progress.done += amount;
	if (!progress.shown || !progress.total)
		return;
	now = now_ms();
	if (now < progress.next_ms)
		return;
	progress.next_ms = now + AGAIN_AFTER_MS;
	draw();
}

/* Takes the line away, so that something else can be written. */
static void progress_clear(void)
{
	if (progress.width)
		fprintf(stderr, "\r%*s\r", progress.width, "");
	progress.width = 0;
}

void swz_complain_list(const char *format, va_list arguments)
{
	char *text;

	progress_clear();
	if (vasprintf(&text, format, arguments) < 0)
		swz_out_of_memory();
	swz_make_printable(text, "\n");
	fprintf(stderr, "swizzle: %s\n", text);
	free(text);
}

void swz_complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	swz_complain_list(format, arguments);
	va_end(arguments);
}

void swz_progress_end(void)
{
	progress_clear();
	progress.total = 0;
}

/* --- compressed files ---------------------------------------------------- */

/* A stream of the C library with a cookie: what is written goes through zlib or
 * libzstd into another stream. */

#define BUFFER_BYTES ((size_t)128 << 10)
/* Traces are long: gigabytes must not take minutes. */
#define GZIP_LEVEL 4
#define ZSTD_LEVEL 3

struct compressed {
	FILE *file;
	int error;       /* that the first failure to write to it had; or 0 */
	z_stream *gzip;  /* either ... */
	ZSTD_CCtx *zstd; /* ... or */
	unsigned char buffer[BUFFER_BYTES];
};

static bool put(struct compressed *to, size_t size)
{
	bool good = fwrite(to->buffer, 1, size, to->file) == size;

	if (!good && !to->error)
		to->error = errno;
	return good;
}

static bool write_gzip(struct compressed *to, const char *bytes, size_t size,
		       bool ends)
{
	int code;

	to->gzip->next_in = (z_const Bytef *)(uintptr_t)bytes;
	to->gzip->avail_in = (uInt)size;
	do {
		to->gzip->next_out = to->buffer;
		to->gzip->avail_out = (uInt)BUFFER_BYTES;
		code = deflate(to->gzip, ends ? Z_FINISH : Z_NO_FLUSH);
		if (code == Z_STREAM_ERROR ||
		    !put(to, BUFFER_BYTES - to->gzip->avail_out))
			return false;
	} while (ends ? code != Z_STREAM_END : to->gzip->avail_out == 0);
	return true;
}

static bool write_zstd(struct compressed *to, const char *bytes, size_t size,
		       bool ends)
{
	ZSTD_inBuffer in = {bytes, size, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {to->buffer, BUFFER_BYTES, 0};

		left = ZSTD_compressStream2(to->zstd, &out, &in,
					    ends ? ZSTD_e_end
						 : ZSTD_e_continue);
		if (ZSTD_isError(left)) {
			errno = ENOMEM;
			return false;
		}
		if (!put(to, out.pos))
			return false;
	} while (ends ? left != 0 : in.pos < in.size);
	return true;
}

static bool write_all(struct compressed *to, const char *bytes, size_t size,
		      bool ends)
{
	return to->gzip ? write_gzip(to, bytes, size, ends)
			: write_zstd(to, bytes, size, ends);
}

static ssize_t write_part(void *cookie, const char *bytes, size_t size)
{
	/* (zlib counts in 32 bits; what is less is asked for again) */
	if (size > (size_t)1 << 30)
		size = (size_t)1 << 30;
	return write_all(cookie, bytes, size, false) ? (ssize_t)size : 0;
}

static void free_compressed(struct compressed *to)
{
	if (to->gzip)
		deflateEnd(to->gzip);
	free(to->gzip);
	ZSTD_freeCCtx(to->zstd);
	free(to);
}

static int end_file(void *cookie)
{
	struct compressed *to = cookie;
	FILE *file = to->file;
	bool whole = !ferror(file) && write_all(to, "", 0, true);
	int error = to->error ? to->error : errno;

	free_compressed(to);
	if (fclose(file) != 0 && whole)
		return -1;
	errno = error;
	return whole ? 0 : -1;
}

enum swz_compression swz_compression_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	if (dot && strcmp(dot, ".gz") == 0)
		return SWZ_GZIP;
	return dot && strcmp(dot, ".zst") == 0 ? SWZ_ZSTD : SWZ_PLAIN;
}

/* A stream that writes to FILE; closing it closes that, too. NULL: it cannot be
 * made; FILE is the caller's still. */
static FILE *compressed_stream(FILE *file, enum swz_compression compression)
{
	struct compressed *to = swz_allocate(1, sizeof(*to));
	FILE *stream = NULL;
	bool ready;

	to->file = file;
	if (compression == SWZ_GZIP) {
		to->gzip = swz_allocate(1, sizeof(*to->gzip));
		/* 31: of 32 KiB, with gzip's header */
		ready = deflateInit2(to->gzip, GZIP_LEVEL, Z_DEFLATED, 31, 8,
				     Z_DEFAULT_STRATEGY) == Z_OK;
	} else {
		to->zstd = ZSTD_createCCtx();
		ready = to->zstd &&
			!ZSTD_isError(ZSTD_CCtx_setParameter(
				to->zstd, ZSTD_c_compressionLevel,
				ZSTD_LEVEL)) &&
			!ZSTD_isError(ZSTD_CCtx_setParameter(
				to->zstd, ZSTD_c_checksumFlag, 1));
	}
	if (ready)
		stream = fopencookie(
			to, "w",
			(cookie_io_functions_t){.write = write_part,
						.close = end_file});
	if (!stream)
		free_compressed(to);
	return stream;
}

enum swz_status swz_output_compress(struct swz_output *output,
				    enum swz_compression compression)
{
	FILE *stream = compressed_stream(output->stream, compression);

	if (!stream) {
		errno = ENOMEM;
		swz_output_discard(output);
		return SWZ_E_SYSTEM;
	}
	output->stream = stream;
	(void)setvbuf(stream, NULL, _IOFBF, BUFFER_BYTES);
	return SWZ_OK;
}

/* --- files that are complete or not there -------------------------------- */

/* Output that never replaces a whole file by half of one. */

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

/* A signal that the caller has told us to ignore (nohup) remains ignored. */
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

static int create_beside(struct swz_output *output, mode_t mode)
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
			  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
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

/* *REPLACED is NULL where nothing is replaced whose permissions count. */
static int create(struct swz_output *output, unsigned int flags,
		  const struct stat *replaced)
{
	bool keeps = replaced && replaced->st_uid == geteuid();
	int fd = create_beside(
		output, keeps || flags & SWZ_OUTPUT_PRIVATE ? 0600 : 0666);

	if (fd >= 0 && keeps)
		(void)fchmod(fd, replaced->st_mode & 0777);
	if (fd < 0) {
		free(output->temporary);
		output->temporary = NULL;
	}
	return fd;
}

enum swz_status swz_output_open(struct swz_output *output, const char *path,
				unsigned int flags)
{
	bool given = !(flags & SWZ_OUTPUT_OWN_NAME), exists;
	struct stat info;
	int fd;

	*output = (struct swz_output){0};
	if (strcmp(path, "-") == 0) {
		output->stream = stdout;
		return SWZ_OK;
	}
	output->path = given ? destination(path) : swz_duplicate(path);
	exists = given && stat(output->path, &info) == 0;
	if (exists && !S_ISREG(info.st_mode))
		fd = open(output->path, O_WRONLY | O_CLOEXEC);
	else
		fd = create(output, flags, exists ? &info : NULL);
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

/* The reason why a stream has failed: some write, long ago, has, and errno is
 * that of anything since. So it is tried again; a compressed stream (which has
 * no descriptor) tells when it is closed. */
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
	size_t run = 0;
	bool shown;

	for (;;) {
		size_t length = swz_character(text + run, SIZE_MAX, &shown);

		if (shown) {
			run += length;
			continue;
		}
		fwrite_unlocked(text, 1, run, stream);
		if (!text[run])
			return;
		putc('?', stream);
		text += run + length;
		run = 0;
	}
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

/* Characters that a text for people shows as '?' are escaped, so that they are
 * not lost. All of them lie below U+10000. */
static void put_code(FILE *stream, const char *text, size_t length)
{
	const unsigned char *t = (const unsigned char *)text;
	unsigned int code = t[0];

	if (length > 1)
		code = (t[0] & (length == 2 ? 0x1fu : 0x0fu)) << 6 |
		       (t[1] & 0x3fu);
	if (length > 2)
		code = code << 6 | (t[2] & 0x3fu);
	fprintf(stream, "\\u%04x", code);
}

void swz_put_json(FILE *stream, const char *text)
{
	putc('"', stream);
	while (*text) {
		size_t plain = plain_length(text), length;
		unsigned char c;
		bool shown;

		fwrite_unlocked(text, 1, plain, stream);
		text += plain;
		if (!*text)
			break;
		length = swz_character(text, SIZE_MAX, &shown);
		c = (unsigned char)*text;
		if (!shown && !swz_utf8_length(text))
			fputs("\\ufffd", stream);
		else if (!shown)
			put_code(stream, text, length);
		else if (c == '"' || c == '\\')
			fprintf(stream, "\\%c", c);
		else if (c == '<' && (text[1] == '/' || text[1] == '!'))
			fputs("\\u003c", stream);
		else
			fwrite(text, 1, length, stream);
		text += length;
	}
	putc('"', stream);
}

void swz_put_csv_part(FILE *stream, const char *text)
{
	size_t length;

	for (; *text; text += length) {
		bool shown;

		length = swz_character(text, SIZE_MAX, &shown);
		if (*text == '"')
			putc('"', stream);
		if (shown)
			fwrite_unlocked(text, 1, length, stream);
		else
			putc('?', stream);
	}
}

void swz_put_csv(FILE *stream, const char *text)
{
	bool quoted = strpbrk(text, "\",");

	if (quoted)
		putc('"', stream);
	/* (one of these alone is text, as "-" for what is not known) */
	if (*text && strchr("=+-@", *text) && text[1])
		putc('\'', stream);
	swz_put_csv_part(stream, text);
	if (quoted)
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
