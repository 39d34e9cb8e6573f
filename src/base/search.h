/* Binary search, once: in tools and in the target (it calls nothing). */
#ifndef SWIZZLE_BASE_SEARCH_H
#define SWIZZLE_BASE_SEARCH_H

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
