#ifndef SWZ_PROFILE_NAMES_DEBUG_INFO_H
#define SWZ_PROFILE_NAMES_DEBUG_INFO_H

/* Source lines and inlined functions of one module, by libdw: for symbols.h. */

#include <stdbool.h>
#include <stdint.h>

struct Dwfl_Module;
struct swz_debug_info;

/* Of a module of libdwfl's, which must live as long. It is loaded with the
 * first question. */
struct swz_debug_info *swz_debug_info_open(struct Dwfl_Module *module);
void swz_debug_info_close(struct swz_debug_info *info); /* NULL is fine */

struct swz_source {
	const char *file; /* absolute where that is known; NULL: unknown.
			   * Overwritten by the next call. */
	int line;         /* 0: unknown, as is file then */
};

struct swz_source swz_debug_info_line(struct swz_debug_info *info,
				      uint64_t address);

struct swz_inline {
	const char *name; /* innermost inlined function, mangled if it can
			   * be; NULL: the address is not in inlined code */
	int line; /* where the function itself has the outermost call that
		   * was inlined; 0: unknown */
};

struct swz_inline swz_debug_info_inline(struct swz_debug_info *info,
					uint64_t address);

/* Whether there is some that could not be decompressed; known after the first
 * question. */
bool swz_debug_info_lacks_sections(const struct swz_debug_info *info);

#endif
