/* Any bytes as a zlib stream, for an output of the size that the first two say.
 */

#include <stdlib.h>

#include "image/elf_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct swz_inflate_tables tables;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = size < 2 ? 0 : (size_t)(data[0] << 8 | data[1]);
	uint8_t *out = malloc(room ? room : 1);
	/* the checksum at the end is seldom right: what is written counts */
	volatile enum swz_status status = SWZ_OK;

	if (out && size >= 2)
		status = swz_inflate((struct swz_bytes){data + 2, size - 2},
				     out, room, &tables);
	free(out);
	return status == SWZ_E_SYSTEM;
}
