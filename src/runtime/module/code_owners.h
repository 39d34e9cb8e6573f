#ifndef SWZ_RUNTIME_MODULE_CODE_OWNERS_H
#define SWZ_RUNTIME_MODULE_CODE_OWNERS_H

/* Whose code calls: a module's, a compiler's at run time, or nobody's. */

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/module/module.h"

/* Who may call into a module that was compiled without unwind tables
 * (module->tableless). V8 may be in it, stripped and unknown, which looks for
 * code of its making at the return address of what that has called: calls from
 * code of no function that is known, or of no module, must find it unchanged,
 * and are let pass. */

/* Functions next to each other, as ELF virtual addresses. */
struct swz_code_part {
	uint32_t start, end;
};

/* When the module has its function ids, which end there: where they lie, in
 * memory that stays, sorted. False: there is no room for it. One thread at a
 * time. */
bool swz_known_code_note(const struct swz_module *module, uint32_t end,
			 const struct swz_code_part *parts,
			 uint32_t count) SWZ_MUST_CHECK;

/* True if a call of the function that returns to `call_site` must find its
 * return address unchanged. Async-signal-safe; takes no lock. */
bool swz_known_code_pass(uint32_t function, uint64_t call_site);

/* Callers whose return address a language runtime looks at: code that it has
 * made at run time. Their calls must find it unchanged, and are let pass. */

/* The symbol in what Mono has compiled ahead of time. */
#define SWZ_MONO_COMPILED "mono_aot_file_info"

/* Takes note of a module that comes, those of the start included: is it a
 * runtime that looks at the return addresses of all calls from code that it
 * has made? One thread at a time. */
void swz_foreign_callers_arrive(const struct link_map *map);

/* When the module has its function ids, which end there: notes them if its
 * runtime looks at the return addresses that code made by it at run time leaves
 * (module->looks_at_callers). One thread at a time. */
void swz_foreign_callers_note_ids(const struct swz_module *module,
				  uint32_t end);

/* True if a call must find its return address unchanged, as it comes from code
 * that such a runtime has made. Async-signal-safe; takes no lock. */
bool swz_foreign_callers_pass(uint32_t function, uint64_t call_site);

/* The kinds of code: code that was made at run time lies in no file. */

enum swz_code_kind {
	SWZ_CODE_OF_FILE,
	SWZ_CODE_OF_RUN_TIME,
	/* of a file, but made by the compiler that makes code at run time, and
	 * called from there: V8's builtins */
	SWZ_CODE_BUILT_IN
};

/* Notes what of the modules of the start need not be asked for: the dynamic
 * linker, which all namespaces share, and built-in code. */
void swz_run_time_code_begin(const struct swz_modules *modules);

/* Something has come to lie at addresses that had other code before. */
void swz_run_time_code_forget(void);

/* Where it cannot be told: SWZ_CODE_OF_FILE. Async-signal-safe; takes no lock.
 */
enum swz_code_kind swz_code_kind_of(uint64_t address);

#endif
