#include "watch/process_labels.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/support/memory.h"

/* All of /proc/PID/environ, with a NUL behind it. */
static char *read_environment(int32_t pid, size_t *size)
{
	char *path = swz_print("/proc/%d/environ", (int)pid), *text = NULL;
	size_t capacity = 0, n;
	FILE *file = fopen(path, "re");

	free(path);
	*size = 0;
	do {
		swz_grow(&text, &capacity, *size + 4096, 1);
		n = file ? fread(text + *size, 1, 4096, file) : 0;
		*size += n;
	} while (n);
	if (file)
		fclose(file);
	text[*size] = '\0';
	return text;
}

/* What is ours to say, whatever the process was started with. */
static const char caller[] = "SWIZZLE_CALLER=";

static bool is_ours(const char *variable)
{
	return strncmp(variable, caller, sizeof(caller) - 1) == 0;
}

void swz_process_labels(int32_t pid, struct swz_labels *labels)
{
	size_t size, count = 0, capacity = 0;
	char *text = read_environment(pid, &size), **list = NULL;

	for (size_t at = 0; at < size; at += strlen(text + at) + 1) {
		swz_grow(&list, &capacity, count + 1, sizeof(*list));
		if (!is_ours(text + at))
			list[count++] = text + at;
	}
	swz_grow(&list, &capacity, count + 2, sizeof(*list));
	for (char **own = environ; *own; own++)
		if (is_ours(*own))
			list[count++] = *own;
	list[count] = NULL;
	swz_labels_read(labels, list);
	free(list);
	free(text);
}
