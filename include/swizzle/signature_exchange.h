#ifndef SWIZZLE_SIGNATURE_EXCHANGE_H
#define SWIZZLE_SIGNATURE_EXCHANGE_H

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

#include <stdint.h>

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

#endif
