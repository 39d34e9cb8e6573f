#ifndef SWZ_TOOLS_DUMP_ADVICE_H
#define SWZ_TOOLS_DUMP_ADVICE_H

/* Finds the Debian package that has the debug file of a module, by dpkg,
 * apt-file and apt-cache. They are asked on this machine only, and for a second
 * at most. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/formats/formats.h"
#include "tools/dump/dump_options.h"

/* --- packages with debug information ------------------------------------- */

struct swz_debug_package {
	char *path;   /* the module's */
	char *owner;  /* the package that the module is of; NULL: unknown */
	char *source; /* its source package, if that has another name */
	char *exact;  /* that of its debug file; NULL: unknown */
	bool has_no_owner; /* dpkg knows of no package */
};

/* Zero-initialised: nothing was asked for. */
struct swz_debug_packages {
	struct swz_debug_package *items;
	size_t count;
	size_t capacity;
	int64_t asked_ns; /* how long the answers have taken */
};
void swz_debug_packages_free(struct swz_debug_packages *packages);

/* --- advice -------------------------------------------------------------- */

/* Advice that would make a report say more: the names of stripped modules, and
 * the mode that names the functions of scripts. */

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

/* Shows the command that gets the names of all files that lack some: one that
 * installs debug packages, or asks a server for debug files and keeps the names
 * in the profile. Runs it if the user says so on standard input. All functions
 * have names. Returns an exit status. */
int swz_dump_get_names(const struct swz_report *report,
		       struct swz_catalog *catalog,
		       const struct swz_dump_options *options);

/* "PATH is Python 3.13", to be freed: of an interpreter in the profiles whose
 * scripts cannot be read though those of another version can. NULL: none. */
char *swz_dump_unread_version(struct swz_catalog *catalog);

/* Says them on stderr. */
void swz_dump_advice_say(const struct swz_dump_advice *advice);

#endif
