#ifndef SWZ_RUNTIME_SUPPORT_LIVE_SITES_H
#define SWZ_RUNTIME_SUPPORT_LIVE_SITES_H

/* Writes into code that threads may be executing. */

#include <stdbool.h>
#include <stdint.h>

#include "base/control.h"

/* Changes so many bytes of code at once, though they may span two pages and
 * other threads run: each thread executes either what was there or what is new,
 * never a part of both. Pages with the new bytes are put in the place of the
 * old ones by one system call, during which no thread finds any page there.
 *
 * Where a thread may be within what was there, it must be one instruction. No
 * other may write into these pages meanwhile. Where the file has just what is
 * wanted, its pages are mapped, as before anything was patched.
 *
 * False: the pages are not private code, or the system refuses; nothing has
 * changed. No libc; async-signal-safe. */
bool swz_code_replace(uint64_t address, const uint8_t *bytes, unsigned length);

/* Sites: bytes that are written into code, and the ones that were there
 * before. Into code that threads may be executing they are written, and taken
 * out again, not by us, but by the controller, which has stopped them
 * (base/control.h). */

extern struct swz_control swizzle_control;

/* No function's number. */
#define SWZ_NO_HOST UINT32_MAX

/* True if functions' hooks are for the controller to write at present, in all
 * code: what stays (SWZ_SITE_STAYS) is written all the same. */
static inline bool swz_live_sites_are_native(void)
{
	/* of the controller, while no thread runs */
	return __atomic_load_n(&swizzle_control.code_state, __ATOMIC_RELAXED) ==
	       SWZ_CODE_NATIVE;
}

/* True if no function has ever been hooked: then no thunk is on any stack. */
static inline bool swz_live_sites_none_yet(void)
{
	return swz_live_sites_are_native() && !swizzle_control.was_hooked;
}

/* True if all hooks are in the code: none is out, nor yet to come, nor on its
 * way. */
static inline bool swz_live_sites_are_written(void)
{
	const struct swz_control *c = &swizzle_control;

	/* of the controller, while no thread runs */
	return __atomic_load_n(&c->code_state, __ATOMIC_ACQUIRE) ==
		       SWZ_CODE_HOOKED &&
	       __atomic_load_n(&c->state, __ATOMIC_ACQUIRE) ==
		       (c->preloaded ? SWZ_CONTROL_IDLE
				     : SWZ_CONTROL_RECORDING);
}

/* Begins the table anew. False: there is no memory, and it has no room. */
bool swz_live_sites_begin(void);

/* True if so many bytes lie in one page. Others are not written at once. */
static inline bool swz_live_site_in_one_page(uint64_t address, unsigned bytes)
{
	return address / 4096 == (address + bytes - 1) / 4096;
}

/* Makes room for so many more at once, if that is possible. */
void swz_live_sites_expect(uint32_t count);

/* Adds bytes that are to be at the address, where others are now. False: there
 * is no room, or they are not whole, and not SWZ_SITE_LASTS. */
bool swz_live_sites_add(uint64_t address, const uint8_t *bytes, unsigned length,
			enum swz_control_phase phase, uint32_t function,
			uint32_t host, unsigned flags);

/* Adds the bytes of a trampoline that a jump which lasts leads to: by those at
 * AT, now, it goes to the hook, by PAST past it. */
void swz_live_sites_add_switch(const uint8_t *at, const uint8_t *past,
			       unsigned length, uint32_t function);

/* Numbers for so many functions: the first. */
uint32_t swz_live_sites_functions(uint32_t count);

/* Adds code of ours outside the library. */
void swz_live_sites_code(const void *start, uint64_t bytes);

/* Notes that the module of the addresses from start to end has gone, or is
 * back. */
void swz_live_sites_gone(uint64_t start, uint64_t end, bool gone);

/* Restores the code of the module whose jumps lead to trampolines in that
 * range, which are about to vanish, and forgets its sites. */
void swz_live_sites_lose(uint64_t start, uint64_t end);

/* Restores the sites that last (SWZ_SITE_LASTS), when nothing is hooked any
 * more and no other is about to change code. Counts in swizzle_control.lasting
 * the jumps that it has to leave: they lead past their hooks. */
void swz_lasting_sites_restore(void);

#endif
