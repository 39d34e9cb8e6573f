#ifndef SWZ_BASE_SIGNATURE_EXCHANGE_H
#define SWZ_BASE_SIGNATURE_EXCHANGE_H

/* The asking side of swizzle/signature_exchange.h: in profiled processes, and
 * in swizzle-run. System calls alone; takes no lock, but waits for the server.
 */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/signature_exchange.h"
#include "swizzle/values.h"

struct swz_exchange_place {
	int32_t server; /* its pid; 0: this process has the file itself */
	int file;       /* descriptors of the server's */
	int bell;       /* 0: none */
	struct swz_exchange *table; /* mapped */
	uint64_t bytes;             /* that are */
};

/* Reads "SERVER FILE BELL" and maps the table. False: that does not go. */
bool swz_exchange_open(const char *text, struct swz_exchange_place *place);

/* The module that is asked about. */
struct swz_exchange_module {
	const char *path;
	const uint8_t *build_id;
	uint32_t build_id_bytes;
	bool is_program;
	int32_t pid; /* of the process that asks */
};

/* The module's question, answered; NULL: there is no answer to be had (the
 * server has gone, the table is full, the path is too long). Waits as long as
 * the server lives, for a minute at most; for ever with IS_PROGRAM. */
const struct swz_question *swz_exchange_ask(
	const struct swz_exchange_place *place,
	const struct swz_exchange_module *module);

/* Maps what the question has been answered with, read-only and for ever, after
 * a check of its size; NULL: there is nothing, or no memory. */
const struct swz_signature_file *swz_exchange_map(
	const struct swz_exchange_place *place, const struct swz_question *q);

/* How many bytes follow what `count` signatures are in such a file. */
uint64_t swz_signature_file_body(const struct swz_signature_file *file);

#endif
