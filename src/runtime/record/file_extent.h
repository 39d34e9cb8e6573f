#ifndef SWZ_RUNTIME_RECORD_FILE_EXTENT_H
#define SWZ_RUNTIME_RECORD_FILE_EXTENT_H

/* How long the profile is. It is mapped as long as it may ever get, once; the
 * file grows in steps, so that a process that is killed leaves one that is
 * little longer than what is in it. What lies behind the file's end is mapped
 * without access: to touch it is no SIGBUS for who reads all memory that may
 * be read (memcheck does when it looks for leaks, word by word).
 *
 * There are two at most: swz_file, and a forked child's before it is in place
 * (swz_file_create_beside). All calls but the first are async-signal-safe, with
 * signals blocked where they make system calls. */

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "swizzle/format.h"

/* Gives the new file behind FD its first length. MOST: what it is going to be
 * mapped with. Then, when it is mapped: takes the access to the rest away. */
enum swz_status swz_extent_begin(int fd, uint64_t most) SWZ_MUST_CHECK;
enum swz_status swz_extent_close_rest(struct swz_file_header *file)
	SWZ_MUST_CHECK;

/* The new one is in the place of swz_file. */
void swz_extent_replace(void);

/* The length of swz_file: in a forked child that still has its parent's, what
 * it was at the fork. */
uint64_t swz_extent(void);

/* The next place from AT on where the mapping of swz_file, or of the new one,
 * may change its protection; UINT64_MAX: nowhere. */
uint64_t swz_extent_border(const struct swz_file_header *file, uint64_t at);

/* Makes FILE at least so long, no more than its limit. False: it cannot be, and
 * has been said to be full. */
bool swz_extent_reach(struct swz_file_header *file, uint64_t bytes);

/* Makes swz_file as long as it may get: the program is about to do what may
 * leave it without access to the file's name. In a forked child that still has
 * its parent's, and in one of vfork, which does it to itself alone, nothing is
 * done. */
void swz_extent_reach_all(void);

/* The end, in three calls. Nobody makes swz_file longer between the first and
 * the last, which is not to be called if the first returns false. Between the
 * first and the second nobody may take room either; after the second nobody has
 * any beyond BYTES (whole pages), and the last cuts the file there. OLD is what
 * the second has returned. */
bool swz_extent_hold(void);
uint64_t swz_extent_lower(uint64_t bytes);
void swz_extent_cut(uint64_t old);

#endif
