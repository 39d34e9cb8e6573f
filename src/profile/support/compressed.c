/* A stream of the C library with a cookie: what is written goes through zlib or
 * libzstd into another stream. */

#include "profile/support/compressed.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "profile/support/memory.h"

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
