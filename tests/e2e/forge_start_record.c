/* forge_start_record FILE MEMBER VALUE... sets members of a file that a start
 * has left of what it has found out, and makes its checksum right again. Times
 * are so many seconds ago. "whole" sets nothing.
 *
 * forge_start_record FILE prints where the dynamic linker's calls are. */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "image/cursor.h"
#include "runtime/cache/plan_cache.h"

static struct swz_start_record_file file;

static uint64_t ago(const char *seconds)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)((now.tv_sec - atol(seconds)) * 1000000000 +
			  now.tv_nsec);
}

static bool set(const char *member, const char *value)
{
	struct swz_costs *costs = &file.facts.costs;
	struct swz_linker_calls *calls = &file.facts.calls;
	uint64_t number = strtoull(value, NULL, 0);

	if (!strcmp(member, "inside"))
		costs->inside = number;
	else if (!strcmp(member, "outside"))
		costs->outside = number;
	else if (!strcmp(member, "ago"))
		costs->measured_ns = ago(value);
	else if (!strcmp(member, "confirmed"))
		costs->confirmed = (uint32_t)number;
	else if (!strcmp(member, "slower"))
		costs->plain *= (uint32_t)number;
	else if (!strcmp(member, "faster"))
		costs->plain /= (uint32_t)number;
	else if (!strcmp(member, "count"))
		calls->count = (uint32_t)number;
	else if (!strcmp(member, "call"))
		calls->at[0] = (uint32_t)number;
	else if (!strcmp(member, "farther"))
		calls->at[0] += (uint32_t)number;
	else if (!strcmp(member, "magic"))
		file.magic[0] = *value;
	else if (!strcmp(member, "boot"))
		file.boot_ns += number * 1000000000u;
	else if (!strcmp(member, "ours"))
		file.linker.ours[0] ^= (uint8_t)number;
	else if (!strcmp(member, "others"))
		for (unsigned i = 0; i < SWZ_MOST_OTHERS; i++)
			file.others[i].file.mtime_ns += number;
	else if (!strcmp(member, "other_count"))
		file.other_count = (uint32_t)number;
	else if (!strcmp(member, "linker"))
		file.linker.inode ^= number;
	else if (!strcmp(member, "hooks"))
		file.linker.options ^= number;
	else
		return !strcmp(member, "whole");
	return true;
}

int main(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "r+") : NULL;

	if (!f || fread(&file, sizeof(file), 1, f) != 1)
		return 1;
	if (argc == 2) {
		for (unsigned i = 0; i < file.facts.calls.count; i++)
			printf("0x%x\n", file.facts.calls.at[i] - 1);
		return 0;
	}
	for (int i = 2; i + 1 < argc; i += 2)
		if (!set(argv[i], argv[i + 1]))
			return 2;
	file.hash = swz_start_record_file_hash(&file);
	rewind(f);
	return fwrite(&file, sizeof(file), 1, f) != 1 || fclose(f);
}
