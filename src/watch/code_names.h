#ifndef SWZ_WATCH_CODE_NAMES_H
#define SWZ_WATCH_CODE_NAMES_H

/* Names of code that lies in no file: who can tell gives an image a
 * `struct swz_code_names` of his own making. */

#include <stdbool.h>
#include <stdint.h>

struct swz_code_name {
	const char *name; /* valid until the next question */
};

struct swz_code_names {
	/* What the code at ADDRESS was called at that time (CLOCK_MONOTONIC).
	 * False: not known. The same name is the same function. */
	bool (*find)(struct swz_code_names *names, uint64_t address,
		     uint64_t time_ns, struct swz_code_name *name);
	void (*close)(struct swz_code_names *names);
};

#endif
