#ifndef SWZ_WATCH_HOOKED_FRAMES_H
#define SWZ_WATCH_HOOKED_FRAMES_H

/* Stacks of a process that runs under swizzle-run. The return addresses of its
 * hooked functions are those of thunks, which know the real ones: see
 * docs/internals/thunks.md. */

#include "watch/image.h"

/* A module was mapped; if it is libswizzle.so, the image's walks look through
 * its thunks from now on. */
void swz_hooked_frames_look_for(struct swz_image *image,
				const struct swz_image_module *module);

/* The same for an image that was forked from one where they do. */
void swz_hooked_frames_fork(struct swz_image *image,
			    const struct swz_image *parent);

void swz_hooked_frames_free(struct swz_image *image);

#endif
