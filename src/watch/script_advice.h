#ifndef SWZ_WATCH_SCRIPT_ADVICE_H
#define SWZ_WATCH_SCRIPT_ADVICE_H

/* What to do where code made at run time has no names. */

#include <stdbool.h>
#include <stdint.h>

#include "watch/image.h"

/* A line without its newline, to be freed: which options would give names to
 * the code without a name that the image's samples hit, or that called what
 * they hit. NULL: that is less than a twentieth of them, or nobody knows such
 * options. To be asked after swz_jit_functions_settle(). */
char *swz_script_advice(const struct swz_image *image);

/* The same: which version the program is of, where it is an interpreter whose
 * scripts can be read of another version only. NULL: it is none, or it was hit
 * by next to no sample. */
char *swz_script_version_advice(const struct swz_image *image);

/* Whether the image's program is an interpreter whose functions only pauses
 * show: see script_frames.h. */
bool swz_script_needs_pauses(const struct swz_image *image);

/* A line without its newline, to be freed: of ALL samples SAMPLES are in such
 * programs, PROGRAM among them, and the engine is perf. NULL: that is less than
 * a twentieth. */
char *swz_pause_advice(uint64_t samples, uint64_t all, const char *program);

#endif
