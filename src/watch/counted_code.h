#ifndef SWZ_WATCH_COUNTED_CODE_H
#define SWZ_WATCH_COUNTED_CODE_H

/* Samples of a process whose calls are counted meanwhile (-m both). A function
 * begins in its trampoline there, which counts the call and then executes the
 * instructions that the jump has displaced (thunks/counting.h). The process's
 * own profile tells where these lie (SWZ_CHUNK_TRAMPOLINES), also when the
 * process has ended before its samples are read. */

#include "watch/image.h"

enum swz_code_kind {
	SWZ_CODE_PROGRAM,  /* or what it has displaced */
	SWZ_CODE_COUNTING, /* what counts a function's calls, or leads there and
			    * back */
	SWZ_CODE_LIBRARY   /* libswizzle.so */
};

/* What the thread executes at registers->ip, which is IN_FILE: in memory that a
 * file is mapped to. A place in a trampoline becomes
 * that of the instruction itself, or of the next one that is the program's. */
enum swz_code_kind swz_counted_code_find(struct swz_image *image,
					 struct swz_registers *registers,
					 bool in_file);

/* True if counting was stopped at that time (swizzle-ctl stop, --off): what was
 * sampled then is in no figure, as what was called is in none. */
bool swz_counted_code_is_paused(struct swz_image *image, uint64_t time_ns);

/* Measures what a counted call costs, in a millisecond, for what all profiles
 * of a run have in common. */
struct swz_sample_run;
void swz_counted_code_measure(struct swz_sample_run *run);

/* Takes what the image that this one was forked from knows. */
void swz_counted_code_fork(struct swz_image *image,
			   const struct swz_image *parent);
void swz_counted_code_free(struct swz_image *image);

#endif
