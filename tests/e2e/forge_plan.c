/* forge_plan FILE OFFSET BYTE... changes bytes of a file of the plan cache (all
 * numbers hexadecimal; a byte "other": to one that it is not) and makes its
 * checksums right again. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thunks/saved_plan.h"

int main(int argc, char **argv)
{
	static union {
		struct swz_saved_header header;
		unsigned char bytes[1 << 24];
	} file;
	struct swz_saved_plan plan;
	FILE *f = argc > 3 ? fopen(argv[1], "r+") : NULL;
	size_t size, at;

	if (!f)
		return 1;
	size = fread(file.bytes, 1, sizeof(file.bytes), f);
	at = strtoul(argv[2], NULL, 16);
	for (int i = 3; i < argc; i++, at++)
		file.bytes[at] = strcmp(argv[i], "other") == 0
					 ? file.bytes[at] ^ 0x24
					 : (unsigned char)strtoul(argv[i], NULL,
								  16);
	swz_saved_plan_parts(
		&file.header,
		file.bytes + swz_saved_plan_head_bytes(&file.header), &plan);
	swz_saved_plan_finish(&file.header, &plan);
	rewind(f);
	return fwrite(file.bytes, 1, size, f) != size || fclose(f);
}
