#ifndef SWZ_RUNTIME_RECORD_FILE_H
#define SWZ_RUNTIME_RECORD_FILE_H

/* The profile file: created, mapped shared, closed; no descriptor is kept, so
 * that the program's own descriptors are numbered as ever.
 * runtime/record/chunks.h takes space from it.
 * See docs/internals/file.md. */

#include <stdatomic.h>
#include <stdint.h>

#include "base/status.h"
#include "runtime/record/file_mapping.h"
#include "swizzle/format.h"

/* Creates the file that the output pattern names for this process and maps
 * it. On failure *problem says why, as the start of a sentence that ends in
 * swz_file_path() (file_name.h). */
enum swz_status swz_file_create(const char **problem) SWZ_MUST_CHECK;
/* Of a start that failed: the mapping and the file are not there any more. */
void swz_file_discard(void);

/* Of address space. */
uint64_t swz_file_mapped_bytes(void);

/* How much of swz_file is used: in a forked child that still has its parent's,
 * of what it can read. */
uint64_t swz_file_used(void);

/* For swz_thread.links: as many as the mapping has units, zero at first and
 * again in a forked child. */
struct swz_links;
struct swz_links *swz_file_links(void);
/* Of address space, with the room for tables (table_room.h). */
uint64_t swz_file_links_bytes(void);

/* A word that is 0 in a forked child, whatever is in it at the fork. */
_Atomic uint32_t *swz_file_wiped_word(void);

/* Of a new file so much is present, if it is as long. */
#define SWZ_PRESENT_BYTES (UINT64_C(4) * SWZ_HEADER_BYTES)

/* What lies behind the first SWZ_HUGE_PAGE of the file, and the links of it,
 * are to be in huge pages. Async-signal-safe. */
void swz_file_begin_huge_pages(struct swz_file_header *file);

/* Maps a new file for a forked child beside the parent's; returns the address
 * of the new mapping, not yet in place, or NULL. */
struct swz_file_header *swz_file_create_beside(void);
/* Removes the file of one that does not get into place. */
void swz_file_remove_beside(void);
/* Puts it in the place of the old, which moves to *old (to be dropped by the
 * next call below) and stays readable there. */
enum swz_status swz_file_replace(struct swz_file_header *beside,
				 struct swz_file_header **old) SWZ_MUST_CHECK;
void swz_file_drop(struct swz_file_header *old);
/* Puts plain memory there: nothing is recorded any more. */
void swz_file_detach(void);

/* Orderly end: end time, and the file cut to what is used. */
void swz_file_finish(void);

/* Takes the sample `which` of swz_file_header.clock; the latest is 2. */
void swz_file_sample_clock(unsigned which);

static inline uint32_t swz_unit_of(const void *p)
{
	return (uint32_t)(((uintptr_t)p - (uintptr_t)swz_file) /
			  SWZ_UNIT_BYTES);
}

static inline void *swz_unit_at(uint64_t unit)
{
	return (char *)swz_file + unit * SWZ_UNIT_BYTES;
}

#endif
