#ifndef SWZ_BASE_BASICS_H
#define SWZ_BASE_BASICS_H

/* Statuses, pages of memory and binary search, for all of the source. */

#include <stdint.h>

/* Fallible functions return one of these; only SWZ_OK is success. */
enum swz_status {
	SWZ_OK = 0,
	SWZ_E_NOMEM,  /* memory or room ran out */
	SWZ_E_RANGE,  /* beyond the reach of a displacement */
	SWZ_E_FORMAT, /* malformed input */
	SWZ_E_SYSTEM, /* a system call failed */
	SWZ_E_NOTFOUND,
	SWZ_E_UNSUPPORTED
};

#define SWZ_MUST_CHECK __attribute__((warn_unused_result))

/* --- pages of memory ----------------------------------------------------- */

/* On x86-64 the kernel's smallest have 4 KiB. */

#define SWZ_PAGE UINT64_C(4096)

/* The page's start that an address or an offset lies behind, or is. */
static inline uint64_t swz_page_down(uint64_t address)
{
	return address & -SWZ_PAGE;
}

/* The page's start at the address or behind it. Near the end of the address
 * space that is 0. */
static inline uint64_t swz_page_up(uint64_t address)
{
	return (address + SWZ_PAGE - 1) & -SWZ_PAGE;
}

/* --- binary search ------------------------------------------------------- */

/* Sets the variable I to how many of COUNT sorted items come before the place
 * that is wanted: IS_BEFORE, an expression of I, is true of these and of no
 * other item. I is COUNT if it is true of all. */
#define SWZ_PARTITION(i, count, is_before) \
	do { \
		__typeof__(i) from_ = 0, to_ = (count); \
\
		while (from_ < to_) { \
			(i) = from_ + (to_ - from_) / 2; \
			if (is_before) \
				from_ = (i) + 1; \
			else \
				to_ = (i); \
		} \
		(i) = from_; \
	} while (0)

#endif
