#ifndef SWZ_PROFILE_NAMES_CATALOG_H
#define SWZ_PROFILE_NAMES_CATALOG_H

/* Modules, functions and places in the source of all the profiles that one
 * report is made of: the same function in two profiles is one here. Names and
 * lines are looked up once for each. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/memory.h"
#include "profile/file/reader.h"
#include "profile/names/debug_info.h"
#include "profile/names/symbols.h"

/* --- functions and places ------------------------------------------------ */

#define SWZ_CATALOG_OUTSIDE \
	0u /* function: a thread's time outside of all \
	    * hooked functions */
#define SWZ_OUTSIDE_NAME "[outside]"
#define SWZ_ALL_NAME "[all]"   /* the same of samples: outside is nothing */
#define SWZ_CATALOG_UNKNOWN 1u /* function: callers that were lost */
#define SWZ_UNKNOWN_NAME "[unknown caller]"
#define SWZ_CATALOG_UNTRACED \
	2u /* function: time of which a trace holds no events */
#define SWZ_UNTRACED_NAME "[not traced]"
#define SWZ_CATALOG_KERNEL 3u /* function: of samples, the kernel */
#define SWZ_KERNEL_NAME "[kernel]"
#define SWZ_CATALOG_UNSAMPLED 4u /* function: time without samples */
#define SWZ_UNSAMPLED_NAME "[not sampled]"
#define SWZ_CATALOG_COUNTING 5u /* function: of samples, what counts calls */
#define SWZ_COUNTING_NAME "[counting]"
#define SWZ_CATALOG_IS_REAL(function) ((function) > SWZ_CATALOG_COUNTING)
#define SWZ_PLACE_UNKNOWN 0u

struct swz_catalog_module {
	const char *path;   /* the first of them */
	const char **paths; /* all that the same file was loaded from;
			     * interned */
	size_t path_count, path_capacity;
	/* By swz_catalog_resolve(), interned. What tables show: the path's last
	 * part, or all of it where another module has the same. */
	const char *name;
	/* How all that executed it called it, if not by its path; NULL: by
	 * that. Known once one has. */
	const char *called;
	bool called_known;
	const char *whole; /* the path, with something of the build-id where
			    * another module has the same path */
	uint64_t mapped_pages;
	uint8_t build_id[32];
	size_t build_id_bytes;
	uint32_t same_as; /* what it is a version of, by swz_catalog_match() */
	uint64_t profiled_ns; /* since 1970, when the first of its profiles
			       * ended */
	struct swz_symbols *symbols;  /* NULL: not opened or not available */
	struct swz_embedded embedded; /* of its profiles */
	bool lies_in_no_file;         /* a script, or code made at run time */
	bool doubtful; /* it has no build-id and has changed: what its file says
			* may be wrong */
	bool tried, lines_tried;
};

struct swz_catalog_function {
	uint32_t module; /* SWZ_INDEX_NONE: unknown */
	uint64_t address;
	uint32_t size;          /* bytes; 0: unknown */
	const char *name;       /* by swz_catalog_resolve() */
	const char *first_name; /* before it was told apart from others */
	const char *file;       /* NULL: unknown */
	int line;               /* 0: unknown */
	bool namesake;     /* a function of an earlier module has the same name,
			    * and neither has a known file */
	bool nameless;     /* of a module; no symbol says what it is called */
	bool recursive;    /* seen to be called while active */
	bool waits;        /* an import that waits: see catalog.c */
	const char *asked; /* its symbol, as the program names it; or NULL */
};

/* Where a call is made. */
struct swz_catalog_place {
	const char *file; /* NULL: unknown */
	int line;
	const char *inlined; /* name of the inlined function that holds the
			      * call, or NULL */
	int outer_line;      /* where that was inlined into the function */
};

struct swz_catalog_options {
	bool symbols; /* look names up */
	bool lines;   /* look source lines up */
	enum swz_demangle demangle;
	bool quiet; /* no warnings about modules without symbols */
	const struct swz_debug_files *files; /* NULL: the usual ones */
	bool only_embedded; /* the files of modules are not opened */
};

struct swz_catalog {
	struct swz_catalog_options options;
	struct swz_intern strings;
	struct swz_catalog_module *modules;
	size_t module_count;
	size_t module_capacity;
	struct swz_catalog_function *functions;
	size_t function_count;
	size_t function_capacity;
	size_t resolved; /* functions below this have names */
	struct swz_catalog_place *places;
	size_t place_count;
	size_t place_capacity;
	struct swz_map by_address;  /* (module, address): functions */
	struct swz_map by_site;     /* (module, address): places */
	struct swz_map by_location; /* (file, line...): places */
	bool matches;               /* see swz_catalog_match() */
	struct swz_map by_symbol;   /* (module and number, name): functions */
	bool has_named_code;        /* callers that were made at run time */
	bool has_unnamed_code;
	bool samples; /* of profiles that hold samples */
};

/* One profile's part in a catalog. */
struct swz_binding {
	struct swz_catalog *catalog;
	struct swz_profile *profile;
	uint32_t *modules;     /* profile's index to the catalog's */
	uint32_t *functions;   /* the same; SWZ_INDEX_NONE: not yet asked for */
	bool has_imports;      /* calls of some are recorded */
	struct swz_map places; /* (return address, caller): places */
};

void swz_catalog_begin(struct swz_catalog *catalog,
		       const struct swz_catalog_options *options);
void swz_catalog_free(struct swz_catalog *catalog);

/* Adds the modules of a profile, which must outlive the binding. */
void swz_catalog_bind(struct swz_binding *binding, struct swz_catalog *catalog,
		      struct swz_profile *profile);
void swz_binding_free(struct swz_binding *binding);

/* The module of a file that profiles may have, or not: at PATH, which is
 * absolute, with that build-id. */
uint32_t swz_catalog_file(struct swz_catalog *catalog, const char *path,
			  const uint8_t *build_id, size_t build_id_bytes);

/* The function at an address of a module. */
uint32_t swz_catalog_function_at(struct swz_catalog *catalog, uint32_t module,
				 uint64_t address);

/* From now on a function is the same one in all versions of its module: of the
 * profiles of BINDINGS the first NEW_COUNT are of the new versions, the others
 * of the old ones. To be called before functions are asked for. */
void swz_catalog_match(struct swz_catalog *catalog,
		       const struct swz_binding *bindings, size_t new_count,
		       size_t count);

/* The catalog's function for a function of the profile: INDEX into its
 * functions or, where that is SWZ_INDEX_NONE, one made up from ID. */
uint32_t swz_binding_function(struct swz_binding *binding, uint32_t index,
			      uint32_t id);

/* True if the direct call before RETURN_ADDRESS in CALLER is of another known
 * function than CALLEE, at whose entry that address was: that one, or one
 * further on, has ended in a jump to it. False where it is not known. */
bool swz_binding_is_jump(struct swz_binding *binding, uint64_t return_address,
			 uint32_t caller, uint32_t callee);

/* The place of the call that returns to RETURN_ADDRESS (a run-time address)
 * from a function of the catalog. */
uint32_t swz_binding_place(struct swz_binding *binding, uint64_t return_address,
			   uint32_t caller);

/* How far an address (a run-time one) lies behind the begin of CALLER, plus 1;
 * SWZ_PLACE_UNKNOWN: it is not within that function, or its size is unknown. */
uint32_t swz_binding_offset(const struct swz_binding *binding, uint64_t address,
			    uint32_t caller);

/* Gives every function its name, file and line. To be called when all are
 * there and before names are read; again after more were added. */
void swz_catalog_resolve(struct swz_catalog *catalog);

/* Path of a function's module, no other module's, or NULL. */
const char *swz_catalog_module_path(
	const struct swz_catalog *catalog,
	const struct swz_catalog_function *function);

/* The same as tables show it, or "-". */
const char *swz_catalog_module_name(
	const struct swz_catalog *catalog,
	const struct swz_catalog_function *function);

/* --- modules ------------------------------------------------------------- */

/* The modules of a catalog and what their files say. What is not to be had is
 * said once for each, on stderr. */

/* The symbols of a module, or NULL. */
struct swz_symbols *swz_catalog_symbols(struct swz_catalog *catalog,
					uint32_t index);

/* The source of an address of a module that has symbols. */
struct swz_source swz_catalog_line(struct swz_catalog *catalog, uint32_t index,
				   struct swz_symbols *symbols,
				   uint64_t address);

/* --- short names ---------------------------------------------------------- */

/* The name of a function, printable, cut to WIDTH columns of a terminal; 0: as
 * it is. What is left out is marked by an ellipsis, "..." without UTF8. First
 * go the parameters, then the innermost template arguments and those around
 * them, then the outermost scopes:
 *
 *   a::map<b::pair<int, char>, c>::insert(d const&)
 *   a::map<b::pair<int, char>, c>::insert(...)
 *   a::map<b::pair<...>, c>::insert(...)
 *   a::map<...>::insert(...)
 *   ...::insert(...)
 *
 * The function's own name always stays: the result may be wider. To be freed.
 */
char *swz_short_name(const char *name, unsigned int width, bool utf8);

/* --- names for the profile itself ----------------------------------------- */

/* Makes the chunks that hold a profile's names: see SWZ_CHUNK_SYMBOLS. */

struct swz_embed_result {
	uint8_t *chunks; /* to be freed; NULL: there is nothing to add */
	size_t bytes;    /* a multiple of 64 */
	size_t names;    /* symbols in them */
	size_t lines;
};

/* Looks up all functions and call places that the profile of BINDING has
 * recorded. The catalog must have no other profile, and look up lines. What is
 * embedded in the profile already is left out, and so is what a file says that
 * may not be the one that was profiled. */
void swz_embed_collect(struct swz_binding *binding,
		       struct swz_embed_result *result);

#endif
