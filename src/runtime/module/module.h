#ifndef SWZ_RUNTIME_MODULE_MODULE_H
#define SWZ_RUNTIME_MODULE_MODULE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/basics.h"
#include "image/eh_frame.h"
#include "image/elf_view.h"
#include "runtime/support/config.h"
#include "swizzle/format.h"
#include "thunks/trampoline.h"

/* The program and its libraries as the dynamic linker has mapped them, and for
 * planning also their files (symbol and section tables are not mapped). */

struct swz_range {
	uint64_t start; /* ELF virtual addresses */
	uint64_t end;
};

#define SWZ_MAX_TEXT_RANGES 64 /* a module with more is not hooked */
#define SWZ_MAX_PLT_RANGES 6
#define SWZ_MAX_LOOSE_RANGES 4

/* A place behind a function's patch site where 5 bytes change, too: a load of
 * the return address, which a jump to its copy replaces; or a branch back into
 * the site, which goes to the copy of what was there. */
struct swz_inner_site {
	uint32_t at;       /* ELF virtual address; of a branch: its last byte
			    * before the distance */
	uint32_t copy;     /* from the beginning of the module's trampolines */
	bool keeps_opcode; /* a branch */
};

struct swz_byte_scan;
struct swz_function;
struct swz_saved_plan;
struct swz_signature_module;

/* By which a file is told from others, and from itself after a change. */
struct swz_file_identity {
	uint64_t device, inode, bytes, mtime_ns, ctime_ns;
};

struct swz_module {
	const char *path; /* for the main program /proc/self/exe's target */
	const char *link_name; /* as the dynamic linker has it: it may be
				* relative, and finds the module though its file
				* is gone */
	uint64_t load_bias;
	uint64_t start, end;   /* run-time addresses */
	struct swz_range near; /* likewise: what its trampolines are within
				* reach of; all of it, or, where that is too
				* large, its text */
	const ElfW(Phdr) * segments;
	unsigned segment_count;
	bool is_program; /* what was executed */
	bool in_scope;
	bool has_flows;       /* --flows, --prints: libc, which has their
			       * functions */
	bool flows_only;      /* and is in scope for nothing else */
	bool foreign_runtime; /* looks return addresses up
				 (src/runtime/compat/compat.h) */
	bool own_unwinder;    /* linked into it, exporting nothing */
	bool tableless;       /* hardly any of its functions has an unwind entry
			       * or a symbol */
	bool late; /* came later; perhaps not relocated: nothing in it can be
		      called */
	bool unwinder_unserved;     /* and cannot be provided for */
	bool looks_at_callers;      /* of its own making
				       (src/runtime/compat/compat.h) */
	struct swz_range generated; /* code with conventions of its own */
	struct swz_bytes build_id;
	struct swz_range text[SWZ_MAX_TEXT_RANGES];
	unsigned text_count;
	bool texts_left_out; /* too many, or not readable */
	bool unopened;       /* its file, as is known what matters of it: */
	bool walks, offers;  /* see cache/plan_cache.h */
	struct swz_range plt[SWZ_MAX_PLT_RANGES];
	unsigned plt_count;
	/* code that the program may copy and run elsewhere */
	struct swz_range loose[SWZ_MAX_LOOSE_RANGES];
	unsigned loose_count;
	struct swz_eh_frame eh_frame; /* in memory; addresses are ELF's */
	struct swz_eh_frame_header eh_frame_header; /* likewise */
	struct swz_elf file; /* of its file; file.file.size 0: none */
	struct swz_file_identity identity; /* of the file, if there is one */
	uint64_t resolver; /* how V8 is told about thunks; 0: it is not there */
	const struct swz_saved_plan *saved; /* by an earlier process, or NULL */
	/* --args: see runtime/record/values.h */
	const struct swz_signature_module *signatures;
	bool asked_for_signatures;
	/* the plan */
	struct swz_function *functions; /* sorted by start */
	uint32_t *page_index;           /* for swz_function_at */
	uint64_t first_page, page_count;
	struct swz_byte_scan *byte_scans; /* by text: see scan_bytes.h */
	uint32_t *labels; /* at a fixed address: where words of the data point
			   * to in the text */
	uint32_t label_count, label_room;
	uint32_t function_count;            /* pieces included */
	uint32_t hookable_count;            /* functions proper */
	struct swz_inner_site *inner_sites; /* sorted by address */
	uint32_t inner_site_count, inner_site_room;
	uint32_t first_id;
	uint32_t counts[SWZ_REFUSAL_COUNT];
	struct swz_trampolines trampolines;
};

struct swz_modules {
	struct swz_module *of; /* in the linker's order */
	unsigned count;
};

/* Lists those of the start, in scratch memory. */
enum swz_status swz_modules_list(struct swz_modules *modules) SWZ_MUST_CHECK;

/* Describes a module that the linker has mapped, from the ELF header in memory.
 * False if there is none where it should be. The path is made absolute in
 * scratch memory. */
bool swz_module_describe(struct swz_module *module,
			 const struct link_map *map) SWZ_MUST_CHECK;

/* Maps the module's file, fills plt and eh_frame, and narrows the text down.
 * A file that is missing or is another one by now is done without. */
enum swz_status swz_module_open(struct swz_module *module) SWZ_MUST_CHECK;
void swz_module_close(struct swz_module *module);

/* A whole file, read-only, to be unmapped; empty if that does not go.
 * `identity` may be NULL. */
struct swz_bytes swz_file_map(const char *path,
			      struct swz_file_identity *identity);

/* Identifies a file without a look into it. False: there is none. */
bool swz_file_identify(const char *path, struct swz_file_identity *identity);

/* Finds what the module defines by this name, in .dynsym or .symtab of its
 * file. */
bool swz_module_symbol(const struct swz_module *module, const char *name,
		       struct swz_elf_symbol *symbol);

/* The module's dynamic section, or NULL. */
const ElfW(Dyn) * swz_module_dynamic(const struct swz_module *module);

/* True if all of these bytes lie in one text of the module. */
static inline bool swz_module_is_text(const struct swz_module *module,
				      uint64_t address, unsigned bytes)
{
	for (unsigned i = 0; i < module->text_count; i++) {
		const struct swz_range *text = &module->text[i];

		if (address >= text->start && address < text->end &&
		    bytes <= text->end - address)
			return true;
	}
	return false;
}

static inline bool swz_ranges_have(const struct swz_range *ranges,
				   unsigned count, uint64_t address)
{
	for (unsigned i = 0; i < count; i++)
		if (address >= ranges[i].start && address < ranges[i].end)
			return true;
	return false;
}

/* The patterns of -M that matched a module that was described. */
extern struct swz_pattern_hits swz_module_hits;

/* True if nobody has written to its texts: they are what the file has, as far
 * as the kernel tells. */
bool swz_module_is_untouched(const struct swz_module *module);

/* A hash of all texts, with what came before as the seed. */
uint64_t swz_module_text_hash(const struct swz_module *module, uint64_t seed);

/* The address in memory of an ELF virtual address. */
static inline const uint8_t *swz_module_bytes(const struct swz_module *module,
					      uint64_t address)
{
	return (const uint8_t *)(uintptr_t)(module->load_bias + address);
}

/* The target of the 32-bit offset at this address, which counts from behind
 * it, as in branches and %rip-relative operands without an immediate. */
static inline uint64_t swz_module_relative(const struct swz_module *module,
					   uint64_t address)
{
	int32_t offset;

	memcpy(&offset, swz_module_bytes(module, address), sizeof(offset));
	return address + sizeof(offset) + (uint64_t)(int64_t)offset;
}

/* Makes a module's text writable for a moment. */

/* True if a page of a private mapping of a file may be executed if it has been
 * written to. It is tried out, on one that is readable only and that nothing
 * runs in; what was there it still holds; that it may be executed then, too,
 * does no harm. */
bool swz_page_may_be_executed(char *page);

/* Makes the range writable, and no longer executable. False if that is refused,
 * or if it is foreseeable that the way back would be: nothing has changed
 * then. */
bool swz_text_unlock(const struct swz_module *module,
		     const struct swz_range *text);

/* Unmaps the pages of the unlocked range until they are used again, unless one
 * may have been written to: false. */
bool swz_text_let_go(const struct swz_module *module,
		     const struct swz_range *text);

/* Pages that are written to soon. */
struct swz_text_run {
	uint64_t start, end;
};

/* To be told of each place in the unlocked text that will be written to, in
 * order of address, and of none (0 bytes) at last: gets copies of the pages for
 * each run of them at once, which takes the kernel less time than a page fault
 * for each. `run` begins with zeros. */
void swz_text_will_write(struct swz_text_run *run, const uint8_t *at,
			 size_t bytes);

/* Gives the range its protection back. If that is refused, the module's file is
 * mapped there anew: false, and what was written is gone. */
bool swz_text_lock(const struct swz_module *module,
		   const struct swz_range *text);

#endif
