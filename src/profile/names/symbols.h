#ifndef SWZ_PROFILE_NAMES_SYMBOLS_H
#define SWZ_PROFILE_NAMES_SYMBOLS_H

/* The names and lines of one module that profiles hold themselves, of one
 * profile or of several. Addresses are ELF virtual addresses. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/basics.h"
#include "profile/file/reader.h"
#include "profile/names/debug_info.h"

/* --- names that profiles bring along ------------------------------------- */

struct swz_embedded {
	struct swz_profile_symbol *symbols; /* by address once it is sorted */
	size_t symbol_count;
	size_t symbol_capacity;
	struct swz_profile_line *lines; /* the same */
	size_t line_count;
	size_t line_capacity;
	const char **names; /* of the symbols; while it is sorted */
	bool sorted;
	unsigned languages;
};

void swz_embedded_free(struct swz_embedded *embedded); /* its arrays */

/* Adds what a profile has. The texts have to live as long. */
void swz_embedded_add_symbol(struct swz_embedded *embedded,
			     const struct swz_profile_symbol *symbol);
void swz_embedded_add_line(struct swz_embedded *embedded,
			   const struct swz_profile_line *line);

bool swz_embedded_is_empty(const struct swz_embedded *embedded);

/* All names at ADDRESS; NULL if *count is 0. */
const char *const *swz_embedded_names(struct swz_embedded *embedded,
				      uint64_t address, size_t *count);

/* The line of an address; NULL: nothing is known. */
const struct swz_profile_line *swz_embedded_line(struct swz_embedded *embedded,
						 uint64_t address);

/* --- demangling with bounded memory -------------------------------------- */

/* Names as people write them (base/qualified_name.h), in memory of their own.
 */

enum swz_demangle {
	SWZ_DEMANGLE_NO,
	SWZ_DEMANGLE_SIMPLE, /* without parameters */
	SWZ_DEMANGLE_FULL
};

/* The demangled form of NAME, a symbol of a module in LANGUAGES (enum
 * swz_languages), or a copy of NAME if it is not mangled or its demangled form,
 * with its NUL, would take more than SWZ_SHOWN_NAME_BYTES; to be freed by the
 * caller. Never fails. */
char *swz_demangle(const char *name, unsigned languages,
		   enum swz_demangle style);

/* --- symbols and lines of a module --------------------------------------- */

/* Names and source lines of one module, from its file and whatever separate
 * debug file belongs to it (.gnu_debugdata, .gnu_debuglink, build-id
 * directories; the servers in DEBUGINFOD_URLS, if that is set); what these do
 * not say, from the names that are embedded in profiles. Addresses are ELF
 * virtual addresses. */

struct swz_symbols;

/* The files that are opened; they must live as long as the symbols. */
struct swz_symbols_source {
	const char *path;
	const uint8_t *build_id;
	size_t build_id_bytes;               /* 0: not known */
	const struct swz_debug_files *files; /* where to look */
	struct swz_embedded *embedded;       /* NULL or empty: none */
	bool only_embedded;                  /* the file is not to be opened */
};

/* Opens the module at a path, whose build-id must be the given one (where
 * build_id_bytes is not 0). Returns SWZ_OK and *out, for swz_symbols_close();
 * otherwise *out is NULL and: SWZ_E_NOTFOUND if neither the file nor a debug
 * file for that build-id is there, SWZ_E_UNSUPPORTED if the file has another
 * build-id, SWZ_E_FORMAT if it is no ELF file. With embedded names it is always
 * SWZ_OK. */
enum swz_status swz_symbols_open(const struct swz_symbols_source *source,
				 struct swz_symbols **out) SWZ_MUST_CHECK;
void swz_symbols_close(struct swz_symbols *symbols); /* NULL is fine */

/* The symbol that ADDRESS lies in, as in the file (mangled); *offset is the
 * distance from its start. NULL if there is none. Lives as long as symbols. */
const char *swz_symbols_name(struct swz_symbols *symbols, uint64_t address,
			     uint64_t *offset);

/* How many bytes the symbol has that ADDRESS lies in; 0: not known. */
uint64_t swz_symbols_size(const struct swz_symbols *symbols, uint64_t address);

/* All symbols at ADDRESS, as in the file; NULL if *count is 0. They live as
 * long as symbols. */
const char *const *swz_symbols_names(const struct swz_symbols *symbols,
				     uint64_t address, size_t *count);

/* True if the module defines a symbol of that name. */
bool swz_symbols_define(struct swz_symbols *symbols, const char *name);

/* Reads what the module's file has at the symbol of that name: SIZE bytes at
 * most. Returns how many; 0: it has no such symbol, or nothing there. */
size_t swz_symbols_read(struct swz_symbols *symbols, const char *name,
			void *into, size_t size);

/* Copies what the module's file has at an address: SIZE bytes at most. Returns
 * how many; 0: there is nothing, or no file. */
size_t swz_symbols_code(struct swz_symbols *symbols, uint64_t address,
			void *into, size_t size);

/* True if no symbol table was found, neither in the module nor in its debug
 * file: only what it exports has names, and what was embedded. */
bool swz_symbols_are_stripped(const struct swz_symbols *symbols);

/* The languages that the module is written in: enum swz_languages. */
unsigned swz_symbols_languages(const struct swz_symbols *symbols);

/* A copy of NAME without a symbol version (name@@VERSION), to be freed. */
char *swz_symbol_without_version(const char *name);

/* Static functions of the same name are told apart by the name of the source
 * file (NULL: it is not static, or not known) and, if that is not enough, how
 * many there are of that file at lower addresses. ADDRESS is a symbol's. */
uint32_t swz_symbols_number(struct swz_symbols *symbols, uint64_t address,
			    const char **file);

/* The source line of an instruction. */
struct swz_source swz_symbols_line(struct swz_symbols *symbols,
				   uint64_t address);

/* True if some debug information could not be decompressed; known after the
 * first question for a line. */
bool swz_symbols_lack_sections(const struct swz_symbols *symbols);

/* True if the instruction before RETURN_ADDRESS is a direct call (e8) of
 * *target. */
bool swz_symbols_calls(struct swz_symbols *symbols, uint64_t return_address,
		       uint64_t *target);

/* The inlined function that an instruction belongs to. */
struct swz_inline swz_symbols_inline(struct swz_symbols *symbols,
				     uint64_t address);

#endif
