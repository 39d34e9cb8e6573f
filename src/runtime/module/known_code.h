#ifndef SWZ_RUNTIME_MODULE_KNOWN_CODE_H
#define SWZ_RUNTIME_MODULE_KNOWN_CODE_H

/* Who may call into a module that was compiled without unwind tables
 * (module->tableless). V8 may be in it, stripped and unknown, which looks for
 * code of its making at the return address of what that has called: calls from
 * code of no function that is known, or of no module, must find it unchanged,
 * and are let pass. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/module/module.h"

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

/* Whether a call of the function that returns to `call_site` must find its
 * return address unchanged. Async-signal-safe; takes no lock. */
bool swz_known_code_pass(uint32_t function, uint64_t call_site);

#endif
