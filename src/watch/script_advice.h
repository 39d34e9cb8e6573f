#ifndef SWZ_WATCH_SCRIPT_ADVICE_H
#define SWZ_WATCH_SCRIPT_ADVICE_H

/* What to do where code made at run time has no names. */

#include "watch/image.h"

/* A line without its newline, to be freed: which options would give names to
 * the code without a name that the image's samples hit. NULL: that is less than
 * a twentieth of them, or nobody knows such options. To be asked after
 * swz_jit_functions_settle(). */
char *swz_script_advice(const struct swz_image *image);

#endif
