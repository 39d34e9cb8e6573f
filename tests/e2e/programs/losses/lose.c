#include <stdio.h>
#include <stdlib.h>
#include "swizzle/format.h"
int main(int argc, char **argv)
{
	FILE *file = fopen(argv[1], "r+b");
	struct swz_file_header header;
	uint64_t count = strtoul(argv[2], NULL, 10);

	if (argc != 3 || !file || fread(&header, sizeof(header), 1, file) != 1)
		return 1;
	if (header.flags & SWZ_FILE_SAMPLES)
		header.lost_samples = count;
	else
		header.lost_calls = count;
	rewind(file);
	return fwrite(&header, sizeof(header), 1, file) != 1 || fclose(file);
}
