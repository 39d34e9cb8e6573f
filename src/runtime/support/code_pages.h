#ifndef SWZ_RUNTIME_SUPPORT_CODE_PAGES_H
#define SWZ_RUNTIME_SUPPORT_CODE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
