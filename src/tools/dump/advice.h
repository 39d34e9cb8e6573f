#ifndef SWZ_TOOLS_DUMP_ADVICE_H
#define SWZ_TOOLS_DUMP_ADVICE_H

/* What would make a report say more: the names of stripped modules, and the
 * mode that names the functions of scripts. */

#include "profile/formats/formats.h"
#include "tools/dump/debug_package.h"
#include "tools/dump/options.h"

struct swz_dump_advice {
	struct swz_dump_shown *functions; /* by the catalog's index */
	size_t capacity;
	int64_t total_ns;
	char **lines; /* NULL-terminated; NULL: swz_dump_advice_find() was not
		       * called */
	struct swz_debug_packages *packages;
};

/* PACKAGES may be shared by several. */
struct swz_dump_advice swz_dump_advice_begin(
	struct swz_debug_packages *packages);
void swz_dump_advice_free(struct swz_dump_advice *advice);

/* Adds a report that is written, or one side of it. */
void swz_dump_advice_add(struct swz_dump_advice *advice,
			 const struct swz_report *report);

/* Makes the lines, of the functions that the options' filters let through; none
 * with -q or SWIZZLE_ADVICE=0. All functions have names. Gives the lines to the
 * writer (NULL: there is none), for which the advice must outlive it. */
void swz_dump_advice_find(struct swz_dump_advice *advice,
			  struct swz_catalog *catalog,
			  const struct swz_dump_options *options,
			  struct swz_writer *writer);

/* Says them on stderr. */
void swz_dump_advice_say(const struct swz_dump_advice *advice);

#endif
