#ifndef SWZ_THUNKS_COUNTING_H
#define SWZ_THUNKS_COUNTING_H

/* The machine code that counts a call at a function's entry (-m count).
 *
 * The jump at the patch site leads to `entry`. Its code finds the counter of
 * the call's edge in the thread's table (struct swz_count_slot), adds one, and
 * falls through into the displaced instructions. The return address stays where
 * it is.
 *
 *     key  = return address + factor       factor: (id + 1) * SWZ_COUNT_FACTOR
 *     slot = base + (key * SWZ_COUNT_MIXER & mask)    base, mask: the thread's
 *     slot or the next one has the key: calls + 1; else: the head, and C
 *
 * Factors lie on pages of their own, right below the trampolines, which the
 * kernel wipes in a forked child (MADV_WIPEONFORK). A factor of 0 fits no key,
 * so C is called: for a function's first call, and for its first call in a
 * child. base and mask are 0 in a new thread, which leads to C, too.
 *
 * With -m cover only the first call is of interest: while the factor is 0 the
 * code goes to C, and otherwise on to the displaced instructions. Where the
 * program needs its flags there it asks by jrcxz, else by a test with %rsp,
 * which is never 0: then the factor has all bits, and no register is needed.
 *
 * Below the return address at S the code uses the memory that no frame has yet
 * (SysV ABI 3.2.2: no signal handler touches 128 bytes below %rsp):
 * S-16 %rax, S-24 %rcx, S-32 the arithmetic flags. S-8 is for the head's push.
 */

#include <stdbool.h>
#include <stdint.h>

/* How much of the code there is. */
enum swz_counting {
	SWZ_COUNT_KEEPING_FLAGS = 0,
	SWZ_COUNT_FREE_FLAGS = 1, /* the program needs none of the arithmetic
				   * flags there */
	SWZ_COUNT_FIRST = 2,      /* -m cover: the first call only */
	SWZ_COUNT_FIRST_FREE_FLAGS = 3 /* the same */
};

/* The factor of a function that was called, with -m cover. */
#define SWZ_COUNT_CALLED UINT64_MAX

/* Spreads a function's call sites, which often follow one another closely, over
 * the table. 32 bits of the product count. */
#define SWZ_COUNT_MIXER UINT32_C(0x9e3779b1)

/* Where the head begins, before `entry`: what every trampoline begins with, and
 * here the way to C. */
#define SWZ_COUNT_HEAD 32u

/* The distances of the thread's base and mask from %fs:0. */
struct swz_count_access {
	int32_t base, mask;
};

/* From `entry` to the displaced instructions. */
unsigned swz_count_bytes(enum swz_counting form);

/* Where the 32-bit distance to the factor lies, from `entry`. */
unsigned swz_count_factor_at(enum swz_counting form);

/* Writes the code behind the standard head, which is at ENTRY - SWZ_COUNT_HEAD.
 * FACTOR: the function's, within 2 GiB. */
void swz_count_write(uint8_t *entry, enum swz_counting form,
		     const uint64_t *factor,
		     const struct swz_count_access *access);

/* The same for code that was written in another process. */
void swz_count_settle(uint8_t *entry, const struct swz_count_access *access);

/* The form and the factor of code that was written. */
enum swz_counting swz_count_form(const uint8_t *entry);
uint64_t *swz_count_factor(const uint8_t *entry);

/* The displaced instructions. */
static inline const uint8_t *swz_count_copies(const uint8_t *entry)
{
	return entry + swz_count_bytes(swz_count_form(entry));
}

#endif
