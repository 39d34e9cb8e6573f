#ifndef SWZ_RUNTIME_MODULE_LOADED_H
#define SWZ_RUNTIME_MODULE_LOADED_H

/* The table of loaded modules by address, their dynamic symbols and how these
 * are bound, the program's own file. */

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swizzle/format.h"
#include "runtime/module/module.h"

/* --- the dynamic linker's list -------------------------------------------- */

/* The dynamic linker's interface for debuggers: the list of modules, and a
 * function that it calls when the list changes. */

/* The head of the linker's list. */
struct r_debug *swz_linker_debug(const struct swz_modules *modules);

/* The linker's own module; NULL: it is none of these. */
const struct swz_module *swz_linker_module(const struct swz_modules *modules);

/* Where its calls of debug->r_brk have their displacements, as ELF virtual
 * addresses. */
#define SWZ_LINKER_MOST_CALLS 16u
struct swz_linker_calls {
	uint32_t count; /* 0: not known */
	uint32_t at[SWZ_LINKER_MOST_CALLS];
};

/* Makes the linker call `stub` in place of the function debug->r_brk, which is
 * left as it is. `calls` are those of this linker, if they are known, and are
 * set to those that are found, if its text is as the file has it. False: its
 * code is not as expected, and unchanged. While only one thread runs. */
bool swz_linker_redirect(const struct swz_modules *modules,
			 const struct r_debug *debug, void (*stub)(void),
			 struct swz_linker_calls *calls) SWZ_MUST_CHECK;

/* The modules that are there, in all namespaces, and the dormant ones: what has
 * been unloaded and may come back. Changed by one thread at a time, in events
 * of the dynamic linker (src/runtime/late.c). */

enum swz_loaded_state {
	SWZ_LOADED_FREE,
	SWZ_LOADED_PRESENT,
	SWZ_LOADED_DORMANT
};

struct swz_loaded {
	_Atomic enum swz_loaded_state state; /* stored last, with release */
	const struct link_map *map;
	uint64_t load_bias;
	uint64_t start, end;
	uint64_t identity; /* of file and text */
	uint32_t seen;     /* at which event */
	uint32_t index;    /* in the profile */
	bool recorded;
	bool own_unwinder;
	struct swz_trampolines trampolines;
	struct swz_loaded_site *sites; /* where jumps were written */
	uint32_t site_count;
	struct swz_bytes file; /* mapped as long as it is loaded; or none */
	struct swz_file_identity file_identity;
	/* in the profile that begins then */
	uint64_t file_start;
	struct swz_module_record *record;
};

/* True if modules may have come or gone unnoticed. */
extern bool swz_loaded_out_of_date;

/* The number of modules that the profile has been told of: all indices are
 * less. */
extern uint32_t swz_loaded_recorded;

/* The table: what memory it needs, and where that is, all zero, for good. */
size_t swz_loaded_bytes(void);
void swz_loaded_begin(void *room);

/* A free place, all zero, which counts when it is set present. NULL: none. */
struct swz_loaded *swz_loaded_new(void);
void swz_loaded_set_present(struct swz_loaded *l);

/* The one that is present, or NULL. */
struct swz_loaded *swz_loaded_find(const struct link_map *map);

/* Goes through the modules of one state, from NULL to NULL. */
struct swz_loaded *swz_loaded_next(struct swz_loaded *after,
				   enum swz_loaded_state state);

/* The module that an address is in, in any namespace; *end is its end. NULL:
 * none. Takes no lock; async-signal-safe. False: this is not known here. */
bool swz_loaded_map_at(uint64_t address, const struct link_map **map,
		       uint64_t *end);

/* By this a module is known again when it comes back. */
uint64_t swz_loaded_identity(const struct swz_module *module);
struct swz_loaded *swz_loaded_find_dormant(const struct swz_module *module,
					   uint64_t identity);

/* Binding, as the dynamic linker would do it, found in the tables of the
 * modules themselves: without its lock, and without binding anything. */

struct swz_dynamic {
	uint64_t load_bias;
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *hash;    /* DT_GNU_HASH */
	const uint16_t *versyms; /* NULL: no versions */
	const Elf64_Verneed *verneed;
	const Elf64_Verdef *verdef;
	const Elf64_Rela *rela, *jmprel;
	const uint64_t *relr; /* packed relative relocations */
	uint64_t rela_count, jmprel_count, relr_count;
};

/* The tables of the module whose dynamic section begins with `entry` (NULL: it
 * has none). False if they are not as they should be, or not mapped. */
bool swz_dynamic_read(uint64_t load_bias, const ElfW(Dyn) * entry,
		      struct swz_dynamic *dynamic);

/* The module's definition of what `from` refers to by its symbol of that index,
 * with the version that it asks for; NULL if it has none. Undefined symbols
 * with an address (a program's PLT entries) are none. */
const Elf64_Sym *swz_dynamic_find(const struct swz_dynamic *module,
				  const struct swz_dynamic *from,
				  uint32_t symbol);

/* Looking up what modules export, in their dynamic symbol tables themselves:
 * the dynamic linker's own lookups answer for the whole process and take its
 * lock. Async-signal-safe. */

/* The module that an address is in, and *end, behind which it is not any more;
 * NULL if it is in none. While the program starts, or where the dynamic linker
 * does not tell us what it loads, it is the one that begins last below. */
const struct link_map *swz_map_at(uint64_t address, uint64_t *end);

/* The module's definition of this name, or NULL. */
void *swz_map_symbol(const struct link_map *map, const char *name);

/* The same, and how long it is. */
void *swz_map_symbol_sized(const struct link_map *map, const char *name,
			   uint64_t *bytes);

/* The definition of this name in the modules behind ours in the order of
 * lookup: the one that a symbol of ours hides. */
void *swz_next_symbol(const char *name);

/* The C library's dl_iterate_phdr, looked up at the first call. By its plain
 * name we would call our own (runtime/compat/stack_walkers.c), which is for the
 * program and calls this one. Takes the dynamic linker's lock. Returns 0 where
 * the process has none. */
typedef int swz_phdr_visitor(struct dl_phdr_info *info, size_t size,
			     void *data);

int swz_next_iterate_phdr(swz_phdr_visitor *visit, void *data);

/* True if a module of the process was linked with libswizzle.so: then it may
 * be here without having been preloaded. For the constructor. */
bool swz_is_linked(void);

/* True if we were loaded when the program ran already. For the constructor. */
bool swz_came_late(void);

/* The path of the program's own file, with its NUL, or "" if it is not known:
 * /proc/self/exe, or without /proc what the kernel was asked to execute, then.
 * That may be another file by now. If the dynamic linker was executed, the file
 * is the one that is mapped at INSIDE, an address of the program. To be called
 * first before the program runs. Returns the length. */
size_t swz_program_file(char *path, size_t room, const void *inside);

/* Another path of the program's own file, OWN, by which it was called: that of
 * a symbolic link. NULL: there is none. To be called first before the program
 * runs. */
const char *swz_program_called(const char *own);

#endif
