#include "profile/file/thread_choice.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"

void swz_thread_choice_add(struct swz_thread_choice *choice, const char *item)
{
	swz_grow(&choice->items, &choice->capacity, choice->count,
		 sizeof(*choice->items));
	choice->items[choice->count++] = item;
}

void swz_thread_choice_free(struct swz_thread_choice *choice)
{
	free(choice->items);
	*choice = (struct swz_thread_choice){0};
}

bool swz_thread_is_named(const struct swz_profile_thread *thread,
			 const char *item)
{
	char id[16];

	snprintf(id, sizeof(id), "%" PRId32, thread->record.tid);
	return strcmp(item, id) == 0 || fnmatch(item, thread->name, 0) == 0;
}

bool swz_thread_is_chosen(const struct swz_thread_choice *choice,
			  const struct swz_profile_thread *thread)
{
	size_t i;

	for (i = 0; i < choice->count; i++)
		if (swz_thread_is_named(thread, choice->items[i]))
			return true;
	return !choice->count;
}
