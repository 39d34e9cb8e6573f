#ifndef SWZ_PROFILE_FILE_INPUTS_H
#define SWZ_PROFILE_FILE_INPUTS_H

/* Finds the profile files that a command line means. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "swizzle/format.h"
#include "base/basics.h"
#include "profile/file/reader.h"

struct swz_inputs {
	char **paths;
	size_t count;
	size_t capacity;
};

/* Adds a file, or the profiles in a directory, sorted by name: files called
 * swizzle.out.* and others that begin as a profile does. On failure *error
 * says why: SWZ_E_SYSTEM if the directory cannot be read, SWZ_E_NOTFOUND if
 * there is none in it. */
enum swz_status swz_inputs_add(struct swz_inputs *inputs, const char *path,
			       struct swz_error *error) SWZ_MUST_CHECK;

/* Adds the most recently modified swizzle.out.* of the working directory.
 * SWZ_E_NOTFOUND if there is none. */
enum swz_status swz_inputs_add_newest(struct swz_inputs *inputs) SWZ_MUST_CHECK;

/* PATH, whatever is there. */
void swz_inputs_add_file(struct swz_inputs *inputs, const char *path);

void swz_inputs_free(struct swz_inputs *inputs);

/* --- processes ----------------------------------------------------------- */

/* Some of the processes that profiles are of. */

/* True if ITEM is the process's number, or matches (as fnmatch(3) has it) the
 * name that it was started with or that of its executable: the last part of the
 * path, or all of it where ITEM has a slash. */
bool swz_process_is_named(const struct swz_profile *profile, const char *item);

/* --- names of processes -------------------------------------------------- */

#define SWZ_PROCESS_NAME_BYTES 80u /* that are enough, with the NUL */

/* The process's name among those of its program, for a lane or a row: the
 * program's name and the `--type=` that it was started with, as of Chromium and
 * what is built upon it; of a utility, for what: "chromium renderer", "chromium
 * utility network". Of Firefox: "firefox-esr tab". Returns `name`. */
const char *swz_process_name(const struct swz_profile *profile, char *name,
			     size_t room);

/* --- threads ------------------------------------------------------------- */

/* Some of the threads of profiles, by ids and by names. */

struct swz_thread_choice {
	const char **items; /* an id, or a pattern of names as fnmatch(3) takes
			     * it */
	size_t count;       /* 0: all threads */
	size_t capacity;
};

/* ITEM must outlive the choice. */
void swz_thread_choice_add(struct swz_thread_choice *choice, const char *item);
void swz_thread_choice_free(struct swz_thread_choice *choice);

/* True if an item is the thread's id, or matches its name. */
bool swz_thread_is_named(const struct swz_profile_thread *thread,
			 const char *item);

bool swz_thread_is_chosen(const struct swz_thread_choice *choice,
			  const struct swz_profile_thread *thread);

/* --- who still writes ---------------------------------------------------- */

/* True if a process is writing the file behind FD. Its lock on the file says
 * so, or its number and start in the header. */
bool swz_has_writer(int fd, const struct swz_file_header *header);

/* The header of a profile of any kind, as it is in the file now. False: the
 * file is none, or cannot be read. */
bool swz_file_header_read(const char *path, struct swz_file_header *header);

/* A sampler writes the profile when the process has ended: waits until that is
 * done, some seconds at most. Returns whether there was something to wait for.
 */
bool swz_wait_for_sampler(const char *path);

/* Why the file did not grow to its bound, as a sentence without its end: "the
 * disk was full". NULL: it could. */
const char *swz_full_reason(const struct swz_file_header *header);

/* --- kinds of profiles --------------------------------------------------- */

/* The kind of a profile's figures. Those of two kinds are not added up, and not
 * compared. */

enum swz_kind {
	SWZ_KIND_CALLS,
	SWZ_KIND_COUNTS, /* calls without times (-m count) */
	SWZ_KIND_SAMPLES
};

static inline enum swz_kind swz_kind_of(const struct swz_file_header *header)
{
	if (header->flags & SWZ_FILE_COUNTS)
		return SWZ_KIND_COUNTS;
	return header->flags & SWZ_FILE_SAMPLES ? SWZ_KIND_SAMPLES
						: SWZ_KIND_CALLS;
}

/* --- archives ------------------------------------------------------------- */

/* A profile in less room: its bytes in blocks, each transformed such that what
 * is alike lies together, and compressed by zstd. docs/file-format.md describes
 * it. */

/* Writes the profile, with its events and the chunks that are added to it. */
void swz_write_archive(FILE *stream, struct swz_profile *profile);

/* True if the file begins as an archive does. */
bool swz_archive_begins(int fd);

/* Makes *profile a descriptor of the profile that is in an archive: of a file
 * that has no name. On failure *error says why. */
enum swz_status swz_archive_expand(int fd, int *profile,
				   struct swz_error *error) SWZ_MUST_CHECK;

#endif
