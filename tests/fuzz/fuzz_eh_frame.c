/* Any bytes as an .eh_frame section, and as an .eh_frame_hdr for it: no crash,
 * and what comes out keeps the header's promises. The first 8 bytes are the
 * address of both. */

#include <stdlib.h>
#include <string.h>

#include "image/eh_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition) \
	do { \
		if (!(condition)) \
			abort(); \
	} while (0)

static bool check_row(void *context, const struct swz_cfi_row *row)
{
	uint64_t *at = context;

	REQUIRE(row->start == *at && row->end > row->start);
	*at = row->end;
	return true;
}

static void look_for(const struct swz_eh_frame *section, uint64_t address)
{
	struct swz_eh_frame_header header = {section->bytes, section->address};
	struct swz_fde fde;

	REQUIRE(!swz_fde_at(section, &header, address, &fde) ||
		address - fde.start < fde.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct swz_eh_frame section;
	struct swz_fde_iterator it;
	struct swz_fde fde;
	enum swz_status status;

	if (size < sizeof(section.address))
		return 0;
	memcpy(&section.address, data, sizeof(section.address));
	section.bytes.data = data + sizeof(section.address);
	section.bytes.size = size - sizeof(section.address);
	swz_fde_begin(&it, &section);
	while (swz_fde_next(&it, &fde)) {
		uint64_t at = fde.start;

		REQUIRE(fde.size && fde.start + fde.size > fde.start);
		status = swz_cfi_rows(&fde, check_row, &at);
		REQUIRE(at <= fde.start + fde.size);
		REQUIRE(status != SWZ_OK || at == fde.start + fde.size);
		REQUIRE(status == SWZ_OK || !swz_fde_is_function(&fde));
		look_for(&section, fde.start);
	}
	look_for(&section, section.address);
	return 0;
}
