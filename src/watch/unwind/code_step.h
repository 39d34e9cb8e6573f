#ifndef SWZ_WATCH_UNWIND_CODE_STEP_H
#define SWZ_WATCH_UNWIND_CODE_STEP_H

/* What the instructions at a pc tell about a frame that no unwind entry
 * describes. A function that is about to set up its frame, or to return, has no
 * frame that %rbp leads to, but its code says where the return address is. */

#include "watch/unwind/unwind_row.h"

/* As many bytes of code as are looked at, from the pc on. */
#define SWZ_CODE_BYTES 64

/* The row that follows from code that begins a frame (push %rbp; mov %rsp,%rbp)
 * or ends one (add $n,%rsp; pop ...; ret); SWZ_ROW_BRANCH before test
 * %rax,%rax. SWZ_ROW_NONE: nothing does. CALLED: the function has called
 * something, so it does not begin. */
struct swz_unwind_row swz_code_row(const uint8_t *code, size_t size,
				   bool called);

/* How many bytes further code goes on that begins with test %rax,%rax and
 * conditional jumps, with this rax. So does clone(): a new thread, which has
 * another stack, and its creator stand at the same instruction. */
int64_t swz_code_branch(const uint8_t *code, size_t size, uint64_t rax);

#endif
