#ifndef SWZ_BASE_PAGE_H
#define SWZ_BASE_PAGE_H

/* Pages of memory. On x86-64 the kernel's smallest have 4 KiB. */

#include <stdint.h>

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

#endif
