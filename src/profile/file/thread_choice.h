#ifndef SWZ_PROFILE_FILE_THREAD_CHOICE_H
#define SWZ_PROFILE_FILE_THREAD_CHOICE_H

/* Some of the threads of profiles, by ids and by names. */

#include <stdbool.h>
#include <stddef.h>

#include "profile/file/reader.h"

struct swz_thread_choice {
	const char **items; /* an id, or a pattern of names as fnmatch(3) takes
			     * it */
	size_t count;       /* 0: all threads */
	size_t capacity;
};

/* ITEM must outlive the choice. */
void swz_thread_choice_add(struct swz_thread_choice *choice, const char *item);
void swz_thread_choice_free(struct swz_thread_choice *choice);

/* Whether an item is the thread's id, or matches its name. */
bool swz_thread_is_named(const struct swz_profile_thread *thread,
			 const char *item);

bool swz_thread_is_chosen(const struct swz_thread_choice *choice,
			  const struct swz_profile_thread *thread);

#endif
