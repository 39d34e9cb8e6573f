#ifndef SWZ_RUNTIME_IMPORTS_IMPORTS_H
#define SWZ_RUNTIME_IMPORTS_IMPORTS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/module/loaded.h"
#include "runtime/module/module.h"
#include "thunks/trampoline.h"

/* Calls that modules in scope make through their GOT into modules that are not
 * (--imports). All of it by the one thread that plans.
 * See docs/internals/imports.md. */

/* Decides for the modules of the start, once all are planned; makes the stubs,
 * which nothing leads to yet. */
enum swz_status swz_imports_plan(struct swz_modules *modules) SWZ_MUST_CHECK;

/* Leads the GOT entries to the stubs. */
void swz_imports_apply(void);

/* Describes the imported functions in the profile. */
enum swz_status swz_imports_record(void) SWZ_MUST_CHECK;

/* --list: what was decided for one module; with -v for each import. */
void swz_imports_print(const struct swz_module *module);

/* A module that the linker is loading now and has not relocated, and which is
 * the profile's with that index. */
void swz_imports_arrive(const struct link_map *map,
			const struct swz_module *module, uint32_t index);

/* Does all of the above for the modules that have arrived, together, since they
 * may import from each other. */
void swz_imports_bind(void);

/* The module is gone; it is there again, at the same place, and yet to be
 * relocated; it will never come again, nor anything that it called. */
void swz_imports_leave(uint32_t index);
void swz_imports_return(const struct link_map *map, struct swz_module *module,
			uint32_t index);
void swz_imports_drop(uint32_t index);

/* The plan's memory is about to go; or, in a forked child, the work of another
 * thread that it was planned by. */
void swz_imports_forget(void);

/* --- what the parts of --imports share ------------------------------------ */

/* Shared by the parts of --imports: imports.c plans, import_targets.c lists
 * what is imported and says what may be called from a thunk, got_slots.c
 * changes GOT entries and sees to dlsym. */

/* ------------------------------------------------- what is kept for good */

struct swz_import_site {
	uint64_t *slot; /* the GOT entry */
	Elf64_Rela *relocation;
	uint64_t stub;
	uint64_t *target;
	bool lazy; /* the linker has yet to store an address */
};

/* How a module's calls of dlsym come to us: see pointers.c. The assembly knows
 * the first three. */
struct swz_dlsym_way {
	uint64_t start, end; /* the module */
	const uint8_t *return_at;
	struct swz_wrapper wrapper;
};

struct swz_stubs {
	size_t bytes; /* of this mapping */
	struct swz_dlsym_way dlsym;
	struct swz_trampolines region;
	void *words;
	size_t target_bytes;
	uint32_t count;
	struct swz_import_site sites[];
};

/* A module of the profile, by its index there. */
struct swz_party {
	const struct link_map *map; /* NULL: not there */
	struct swz_dynamic dynamic;
	uint64_t start, end;
	struct swz_range near; /* see struct swz_module */
	bool readable;         /* its tables */
	bool untouchable;
	bool in_scope;
	bool flows_only; /* see struct swz_module */
	bool importing;  /* its calls are to be timed */
	bool late;
	bool relocated; /* by the dynamic linker, when it was (last) seen */
	bool fresh;     /* to be planned for */
	struct swz_stubs *stubs;
	/* while planning */
	struct swz_module *module;
	uint32_t slot_count, timed;
};

extern struct swz_party *swz_parties;
extern uint32_t swz_party_count;

/* ------------------------------------------------------- what is planned */

struct swz_target_code;

/* A function that is imported. Those of the start have one id each; a library
 * that comes later has ids of its own, as these die with it. */
struct swz_target {
	struct swz_target *next;
	uint32_t party;
	uint32_t owner;   /* the importing party, or NOBODY's */
	uint64_t address; /* what its symbol says, at run time */
	uint32_t size;
	uint32_t id;
	const char *name;
	uint16_t status;
	uint8_t filter;
	uint16_t name_marks; /* while planning: swz_name_marks */
	bool is_ifunc;
	bool any_timed;
	bool is_taken;        /* a module has its address as data */
	uint16_t slot_status; /* of the first that is not */
};

#define NOBODY UINT32_MAX

/* Code that a GOT entry leads to, or may. */
struct swz_target_code {
	struct swz_target_code *next;
	struct swz_target *target;
	uint32_t party;
	bool is_resolver; /* which chooses among what it refers to */
	uint64_t address; /* ELF virtual */
};

struct swz_import {
	struct swz_import *next;
	uint32_t party;
	struct swz_target *target;
	const char *name;
	uint64_t *slot;
	Elf64_Rela *relocation;
	uint16_t status;
	bool lazy;
	bool of_pointers; /* R_X86_64_GLOB_DAT */
	bool is_called;
};

extern struct swz_target *swz_targets;
extern struct swz_target_code *swz_target_codes;
extern struct swz_import *swz_imports;
extern struct swz_decoder *swz_import_decoder;

static inline void swz_import_refuse(uint16_t *status, enum swz_refusal reason)
{
	if (*status == SWZ_PATCHED)
		*status = (uint16_t)reason;
}

static inline bool swz_import_is_timed(const struct swz_import *import)
{
	return import->status == SWZ_PATCHED &&
	       import->target->status == SWZ_PATCHED;
}

/* True if the linker comes to the entry yet, or comes back to it, since it
 * leads to its own PLT entry. */
static inline bool swz_entry_is_lazy(const struct swz_party *p,
				     const Elf64_Rela *relocation,
				     const uint64_t *slot)
{
	return !p->relocated ||
	       (ELF64_R_TYPE(relocation->r_info) == R_X86_64_JUMP_SLOT &&
		*slot >= p->start && *slot < p->end);
}

/* True if the linker has relocated a library that comes later already (as
 * glibc does since 2.41, before it says that the library is there). */
bool swz_party_is_relocated(const struct swz_party *party);

/* Lists what the fresh parties import, and from whom. */
enum swz_status swz_imports_collect(void) SWZ_MUST_CHECK;

/* Refuses targets that must not be called from a thunk, or that the user does
 * not want. */
enum swz_status swz_imports_inspect(void) SWZ_MUST_CHECK;

/* Refuses imports of the party that it takes pointers from. */
enum swz_status swz_imports_find_taken(struct swz_party *party) SWZ_MUST_CHECK;

/* Code as the party's file has it: in memory jumps to trampolines may stand
 * there by now, over the first bytes of a call or of what takes an address.
 * NULL: that is not known. */
const uint8_t *swz_party_code(const struct swz_party *party,
			      const struct swz_range *range);

/* Refuses all of the party's. */
void swz_imports_refuse_all(const struct swz_party *party,
			    enum swz_refusal reason);

/* Makes the party's stubs, for what is not refused by now. */
void swz_stubs_write(struct swz_party *party);
void swz_stubs_free(struct swz_party *party);

/* With --imports=dlsym: makes stubs for what it is asked for. */
void swz_pointers_write(void);

/* Leads the party's GOT entries to its stubs; false: nothing has changed. Its
 * module is at hand. */
bool swz_stubs_apply(struct swz_party *party);

#endif
