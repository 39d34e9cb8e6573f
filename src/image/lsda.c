#include "image/lsda.h"

#include "image/cursor.h"
#include "image/eh_pointer.h"

bool swz_lsda_lands(struct swz_bytes lsda, uint64_t offset, uint64_t count)
{
	struct swz_cursor c = swz_cursor(lsda), sites;
	uint8_t encoding = swz_cursor_u8(&c);

	if (encoding != SWZ_EH_PE_OMIT) /* where landing pads count from */
		swz_eh_read_value(&c, encoding);
	if (swz_cursor_u8(&c) != SWZ_EH_PE_OMIT) /* the types' table */
		swz_cursor_uleb(&c);
	encoding = swz_cursor_u8(&c);
	sites = swz_cursor(swz_cursor_take(&c, swz_cursor_uleb(&c)));
	if (c.failed)
		return true;
	while (!swz_cursor_at_end(&sites)) {
		uint64_t start = swz_eh_read_value(&sites, encoding);
		uint64_t length = swz_eh_read_value(&sites, encoding);
		uint64_t pad = swz_eh_read_value(&sites, encoding);

		swz_cursor_uleb(&sites); /* action */
		if (sites.failed)
			return true;
		if (start >= offset + count)
			return false; /* they are sorted */
		if (pad && start + length > offset)
			return true;
	}
	return false;
}
