/* The breakpoint function is one byte, a `ret`, and a debugger may have put its
 * breakpoint there already. Its calls in the linker's text are what we change.
 */

#include "runtime/module/loaded.h"

#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/module/module.h"
#include "runtime/support/config.h"
#include "runtime/support/live_sites.h"
#include "runtime/support/scratch_memory.h"
#include "thunks/relocate.h"
#include "thunks/maps.h"

/* True if an instruction of the function around it begins there. */
static bool begins_instruction(const struct swz_module *m,
			       struct swz_decoder *decoder, uint64_t address)
{
	struct swz_fde fde;
	uint64_t pc;

	if (!swz_fde_at(&m->eh_frame, &m->eh_frame_header, address, &fde))
		return false;
	for (pc = fde.start; pc < address;) {
		struct swz_bytes code = {swz_module_bytes(m, pc),
					 fde.start + fde.size - pc};
		unsigned length = swz_decode_length(decoder, code);

		if (!length)
			return false;
		pc += length;
	}
	return pc == address;
}

/* True if one of eight bytes is the opcode of a call or a jump. */
static bool may_have_call(const uint8_t *code)
{
	uint64_t ones = UINT64_C(0x0101010101010101), bytes;

	memcpy(&bytes, code, sizeof(bytes));
	bytes = (bytes ^ 0xe8 * ones) & 0xfe * ones;
	return (bytes - ones) & ~bytes & 0x80 * ones;
}

/* True if it is a call, or a jump, of the function. */
static bool leads_to(const struct swz_module *m, uint64_t address,
		     uint64_t function)
{
	const uint8_t *code = swz_module_bytes(m, address);
	int32_t distance;

	memcpy(&distance, code + 1, sizeof(distance));
	return (code[0] & 0xfe) == 0xe8 &&
	       (uint64_t)(uintptr_t)code + 5 + (uint64_t)(int64_t)distance ==
		       function;
}

/* The calls of (and jumps to) a function in its own module. */
static void find_calls(const struct swz_module *m, uint64_t function,
		       struct swz_linker_calls *calls)
{
	struct swz_decoder *decoder = swz_decoder_new(swz_scratch_alloc);

	calls->count = 0;
	if (!decoder)
		return;
	for (unsigned t = 0; t < m->text_count; t++) {
		uint64_t address = m->text[t].start;

		for (; address + 5 <= m->text[t].end; address++) {
			if (address + 8 <= m->text[t].end &&
			    !may_have_call(swz_module_bytes(m, address))) {
				address += 7;
				continue;
			}
			if (!leads_to(m, address, function) ||
			    !begins_instruction(m, decoder, address))
				continue;
			if (calls->count == SWZ_LINKER_MOST_CALLS) {
				calls->count = 0;
				return;
			}
			calls->at[calls->count++] = (uint32_t)address + 1;
		}
	}
}

/* True if those that are said to be known are calls of the function. */
static bool are_calls(const struct swz_module *m, uint64_t function,
		      const struct swz_linker_calls *calls)
{
	if (!calls->count || calls->count > SWZ_LINKER_MOST_CALLS)
		return false;
	for (unsigned i = 0; i < calls->count; i++)
		if (!calls->at[i] ||
		    !swz_module_is_text(m, calls->at[i] - 1, 5) ||
		    !leads_to(m, calls->at[i] - 1, function))
			return false;
	return true;
}

/* True if a call from anywhere in the linker's text reaches there. */
static bool is_in_reach(const struct swz_module *m, uint64_t address)
{
	uint64_t low = address < m->start ? address : m->start;
	uint64_t high = address > m->end ? address : m->end;

	return high - low <= INT32_MAX;
}

/* jmp *address(%rip) to the stub, within reach of the linker. */
static const uint8_t *make_bridge(const struct swz_module *m,
				  void (*stub)(void))
{
	static const uint8_t jump[] = {0xff, 0x25, 2, 0, 0, 0, 0xcc, 0xcc};
	uint8_t *page = swz_near_map(m->near.start, m->near.end, 4096);

	if (!page)
		return NULL;
	memcpy(page, jump, sizeof(jump));
	memcpy(page + sizeof(jump), &stub, sizeof(stub));
	if (swz_sys_mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0)
		return page;
	swz_sys_munmap(page, 4096);
	return NULL;
}

/* For the controller to write, unless it is done here: all of them, or none. */
static bool list(const struct swz_module *m,
		 const struct swz_linker_calls *calls, const uint8_t *bridge,
		 bool written)
{
	uint32_t number = swz_live_sites_functions(1);

	for (unsigned i = 0; i < calls->count && !written; i++)
		if (!swz_live_site_in_one_page(m->load_bias + calls->at[i], 4))
			return false;
	swz_live_sites_code(bridge, 4096);
	for (unsigned i = 0; i < calls->count; i++) {
		uint64_t at = m->load_bias + calls->at[i];
		int32_t distance = (int32_t)((uintptr_t)bridge - (at + 4));
		uint8_t bytes[sizeof(distance)];
		bool whole = swz_live_site_in_one_page(at, sizeof(bytes));

		memcpy(bytes, &distance, sizeof(distance));
		if (!swz_live_sites_add(at, bytes, sizeof(bytes),
					SWZ_PHASE_LINKER, number, SWZ_NO_HOST,
					SWZ_SITE_STAYS |
						(whole ? 0 : SWZ_SITE_LASTS)))
			return false;
	}
	return true;
}

static bool redirect(const struct swz_module *m,
		     const struct swz_linker_calls *calls,
		     const uint8_t *bridge)
{
	bool done = false;

	if (swz_config.attached)
		return list(m, calls, bridge, false);
	(void)list(m, calls, bridge, true);
	for (unsigned t = 0; t < m->text_count; t++) {
		const struct swz_range *text = &m->text[t];

		if (!swz_text_unlock(m, text))
			continue;
		for (unsigned i = 0; i < calls->count; i++) {
			uint64_t at = m->load_bias + calls->at[i];
			int32_t low = (int32_t)((uintptr_t)bridge - (at + 4));

			if (calls->at[i] >= text->start &&
			    calls->at[i] < text->end)
				memcpy((void *)(uintptr_t)at, &low,
				       sizeof(low));
		}
		done = swz_text_lock(m, text) || done;
	}
	return done;
}

static const struct swz_module *linker_of(const struct swz_modules *modules,
					  uint64_t function)
{
	for (unsigned i = 0; i < modules->count; i++)
		if (function >= modules->of[i].start &&
		    function < modules->of[i].end)
			return &modules->of[i];
	return NULL;
}

/* The program may have a copy of _r_debug, which the linker does not use: the
 * program's dynamic section says where the right one is. */
struct r_debug *swz_linker_debug(const struct swz_modules *modules)
{
	const ElfW(Dyn) *d = swz_module_dynamic(&modules->of[0]);

	for (; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_DEBUG && d->d_un.d_ptr)
			return (struct r_debug *)d->d_un.d_ptr;
	return &_r_debug;
}

const struct swz_module *swz_linker_module(const struct swz_modules *modules)
{
	return linker_of(modules, swz_linker_debug(modules)->r_brk);
}

/* In a copy that is opened for that: the module may be closed by now. */
static void find_anew(const struct swz_module *linker, uint64_t function,
		      struct swz_linker_calls *calls)
{
	struct swz_module copy = *linker;

	calls->count = 0;
	if (swz_module_open(&copy) != SWZ_OK)
		return;
	find_calls(&copy, function, calls);
	swz_module_close(&copy);
}

bool swz_linker_redirect(const struct swz_modules *modules,
			 const struct r_debug *debug, void (*stub)(void),
			 struct swz_linker_calls *calls)
{
	const struct swz_module *linker = linker_of(modules, debug->r_brk);
	struct swz_linker_calls found = *calls;
	const uint8_t *bridge;

	if (!linker)
		return false;
	if (!are_calls(linker, debug->r_brk, &found)) {
		find_anew(linker, debug->r_brk, &found);
		/* where a debugger has put a breakpoint, a call is not found:
		 * what is known of such a text is not for others */
		if (swz_module_is_untouched(linker))
			*calls = found;
	}
	if (!found.count)
		return false;
	/* (what is attached may be gone again before its code is) */
	if (!swz_config.attached && is_in_reach(linker, (uintptr_t)stub))
		bridge = (const uint8_t *)(uintptr_t)stub;
	else
		bridge = make_bridge(linker, stub);
	return bridge && redirect(linker, &found, bridge);
}
