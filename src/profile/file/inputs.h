#ifndef SWZ_PROFILE_FILE_INPUTS_H
#define SWZ_PROFILE_FILE_INPUTS_H

/* Which profile files a command line means. */

#include <stddef.h>

#include "base/status.h"
#include "profile/file/reader.h"

struct swz_inputs {
	char **paths;
	size_t count;
	size_t capacity;
};

/* Adds a file, or the profiles in a directory, sorted by name: files called
 * swizzle.out.* and others that begin as a profile does. On failure *error
 * says why: SWZ_E_SYSTEM if the directory cannot be read, SWZ_E_NOTFOUND if
 * there is none in it. */
enum swz_status swz_inputs_add(struct swz_inputs *inputs, const char *path,
			       struct swz_error *error) SWZ_MUST_CHECK;

/* Adds the most recently modified swizzle.out.* of the working directory.
 * SWZ_E_NOTFOUND if there is none. */
enum swz_status swz_inputs_add_newest(struct swz_inputs *inputs) SWZ_MUST_CHECK;

void swz_inputs_free(struct swz_inputs *inputs);

#endif
