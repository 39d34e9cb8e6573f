#ifndef SWZ_TESTS_PAGE_BYTES_H
#define SWZ_TESTS_PAGE_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* What a page's block called NAME holds, to be freed; *SIZE bytes. MARKUP has
 * that block and nothing else. Fails the test where it is not exactly what
 * html_blocks.h says. */
uint8_t *page_bytes(const char *markup, size_t markup_size, const char *name,
		    size_t *size);

#endif
