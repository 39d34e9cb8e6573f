#ifndef SWZ_BASE_SIGNATURE_EXCHANGE_H
#define SWZ_BASE_SIGNATURE_EXCHANGE_H

/* --args: how libswizzle.so gets the signatures of a module's functions from
 * swizzle-dump, which runs beside the profiled processes and reads debug
 * information for them.
 *
 * The two share a file in memory. It begins with struct swz_exchange, a table
 * of questions, one for each module of the run. A process that loads a module
 * looks for the module's question; where there is none it claims a free one,
 * fills it in, and writes its own pid (4 bytes) into a pipe, the bell. The
 * server appends the answer to the file and wakes those who wait for the
 * question's state. An answer is struct swz_signature_file and what follows it
 * (values.h).
 *
 * Processes open both by /proc/SERVER/fd/N, whose numbers are in the variable
 * SWIZZLE_SIGNATURES: "SERVER FILE BELL". A bell of 0 is none: there are the
 * answers that are there, and "self" is the server: the descriptor FILE of the
 * process itself, to be closed. */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/values.h"

#define SWZ_EXCHANGE_QUESTIONS 1024u
#define SWZ_EXCHANGE_PATH_BYTES 936u

enum swz_question_state {
	SWZ_QUESTION_FREE = 0,
	SWZ_QUESTION_CLAIMED = 1, /* is being filled in */
	SWZ_QUESTION_ASKED = 2,
	SWZ_QUESTION_ANSWERED = 3
};

enum swz_answer {
	SWZ_ANSWER_SIGNATURES = 0, /* bytes at offset */
	SWZ_ANSWER_NO_MATCH = 1,   /* no function matches */
	SWZ_ANSWER_NO_DEBUG = 2,   /* no debug information was found */
	SWZ_ANSWER_NO_FILE = 3,    /* the file is missing, or another one */
	SWZ_ANSWER_NO_SPLIT = 4,   /* it is in .dwo files that are not found */
	SWZ_ANSWER_PACKED = 5      /* it is compressed in a way that is not
				    * known (zstd, by libdw before 0.189) */
};

struct swz_question {
	uint32_t state; /* a futex; stored last */
	uint32_t build_id_bytes;
	uint8_t build_id[32];
	uint32_t is_program; /* its debug information may be fetched */
	int32_t pid;         /* who asks: whose root directory */
	uint32_t answer;     /* enum swz_answer */
	uint32_t unused;
	uint64_t offset, bytes;
	char path[SWZ_EXCHANGE_PATH_BYTES]; /* with a NUL */
	uint64_t padding;
};

struct swz_exchange {
	struct swz_question questions[SWZ_EXCHANGE_QUESTIONS];
};

#ifndef __cplusplus
_Static_assert(sizeof(struct swz_question) % 8 == 0, "no padding");
#endif

/* --- the side that asks --------------------------------------------------- */

/* In profiled processes, and in swizzle-run. System calls alone; takes no
 * lock, but waits for the server. */

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
