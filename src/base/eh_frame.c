#include "base/eh_frame.h"

/* The section is a chain of entries, each a length and a body: a CIE holds what
 * functions have in common, an FDE describes one function and names its CIE by
 * the distance back to it. An entry that is damaged or of an unsupported form
 * is stepped over by its length; only a damaged length ends the walk. */

#include <string.h>

#include "base/cursor.h"
#include "base/eh_pointer.h"

enum {
	EXTENDED_LENGTH = 0xffffffffu, /* a 64-bit length follows */
	ID_BYTES = 4 /* CIE id or pointer: 4 in either format (LSB 10.6.1) */
};

/* An entry's body, from its id field on. */
struct entry {
	struct swz_cursor cursor; /* over the whole section, cut at its end */
	size_t id_at;
	uint32_t id;
};

/* Reads the entry at `offset` and sets *next behind it. False at the end of the
 * section or if the length is damaged. */
static bool read_entry(const struct swz_eh_frame *section, size_t offset,
		       struct entry *entry, size_t *next)
{
	struct swz_cursor cursor = swz_cursor(section->bytes);
	uint64_t length;

	swz_cursor_skip(&cursor, offset);
	length = swz_cursor_u32(&cursor);
	if (length == EXTENDED_LENGTH)
		length = swz_cursor_u64(&cursor);
	if (cursor.failed || !length || length > cursor.size - cursor.at)
		return false;
	cursor.size = cursor.at + (size_t)length;
	*next = cursor.size;
	entry->id_at = cursor.at;
	entry->id = swz_cursor_u32(&cursor);
	entry->cursor = cursor;
	return true;
}

static void skip_personality(struct swz_cursor *cursor)
{
	uint8_t encoding = swz_cursor_u8(cursor);

	if (encoding == SWZ_EH_PE_OMIT)
		return;
	/* padded up to an aligned place: unsupported */
	if ((encoding & SWZ_EH_PE_APPLICATION) == SWZ_EH_PE_ALIGNED)
		cursor->failed = true;
	swz_eh_read_value(cursor, encoding);
}

/* Reads the augmentation data that the string announces behind its 'z'. */
static bool read_augmentation(struct swz_cie *cie, const char *string,
			      struct swz_bytes data)
{
	struct swz_cursor cursor = swz_cursor(data);

	for (; *string; string++) {
		switch (*string) {
		case 'R':
			cie->pointer_encoding = swz_cursor_u8(&cursor);
			break;
		case 'P':
			skip_personality(&cursor);
			break;
		case 'L':
			cie->lsda_encoding = swz_cursor_u8(&cursor);
			cie->has_lsda = cie->lsda_encoding != SWZ_EH_PE_OMIT;
			break;
		case 'S':
			cie->signal_frame = true;
			break;
		case 'B': /* AArch64: signed return addresses; no data */
			break;
		default:
			return false;
		}
	}
	return !cursor.failed;
}

/* The NUL-terminated string at the cursor, or NULL. */
static const char *read_string(struct swz_cursor *cursor)
{
	size_t start = cursor->at;

	while (swz_cursor_u8(cursor))
		;
	return cursor->failed ? NULL : (const char *)cursor->data + start;
}

static bool read_cie(const struct swz_eh_frame *section, size_t offset,
		     struct swz_cie *cie)
{
	struct swz_cursor *cursor;
	struct entry entry;
	const char *string;
	uint8_t version;
	size_t next;

	memset(cie, 0, sizeof(*cie));
	if (!read_entry(section, offset, &entry, &next) || entry.id)
		return false;
	cursor = &entry.cursor;
	version = swz_cursor_u8(cursor);
	if (version != 1 && version != 3)
		return false;
	string = read_string(cursor);
	cie->code_align = swz_cursor_uleb(cursor);
	cie->data_align = swz_cursor_sleb(cursor);
	if (version == 1) {
		cie->return_column = swz_cursor_u8(cursor);
	} else {
		uint64_t column = swz_cursor_uleb(cursor);

		if (column > UINT32_MAX)
			return false;
		cie->return_column = (uint32_t)column;
	}
	if (cursor->failed)
		return false;
	if (string[0] == 'z') {
		uint64_t size = swz_cursor_uleb(cursor);
		struct swz_bytes data = swz_cursor_take(cursor, size);

		cie->augmented = true;
		if (!read_augmentation(cie, string + 1, data))
			return false;
	} else if (string[0]) {
		return false;
	}
	cie->program = swz_cursor_rest(cursor);
	return !cursor->failed;
}

/* Reads what 'z' puts into each FDE: of that we know the LSDA's address. */
static void read_lsda(const struct swz_cie *cie, struct swz_cursor *cursor,
		      struct swz_fde *fde)
{
	const struct swz_eh_frame *section = &fde->section;
	struct swz_bytes bytes;
	struct swz_cursor data;

	if (!cie->augmented)
		return;
	bytes = swz_cursor_take(cursor, swz_cursor_uleb(cursor));
	data = swz_cursor(bytes);
	fde->has_lsda = cie->has_lsda &&
			swz_eh_read_value(&data, cie->lsda_encoding) != 0;
	if (!fde->has_lsda)
		return;
	data = swz_cursor(bytes);
	fde->lsda = swz_eh_read_pointer(
		&data, cie->lsda_encoding,
		section->address +
			(uint64_t)(bytes.data - section->bytes.data));
	if (data.failed)
		fde->lsda = 0;
}

/* The CIE at this offset, or NULL. */
static const struct swz_cie *cie_at(struct swz_fde_iterator *it, size_t offset)
{
	if (!it->cie_valid || it->cie_offset != offset) {
		it->cie_valid = read_cie(&it->section, offset, &it->cie);
		it->cie_offset = offset;
	}
	return it->cie_valid ? &it->cie : NULL;
}

static bool read_fde(struct swz_fde_iterator *it, struct entry *entry,
		     struct swz_fde *fde)
{
	const struct swz_eh_frame *section = &it->section;
	struct swz_cursor *cursor = &entry->cursor;
	const struct swz_cie *cie = NULL;

	if (entry->id <= entry->id_at)
		cie = cie_at(it, entry->id_at - entry->id);
	if (!cie)
		return false;
	memset(fde, 0, sizeof(*fde));
	fde->start = swz_eh_read_pointer(cursor, cie->pointer_encoding,
					 section->address);
	fde->size = swz_eh_read_value(cursor, cie->pointer_encoding);
	if (fde->size > UINT64_MAX - fde->start)
		return false;
	fde->section = *section;
	read_lsda(cie, cursor, fde);
	fde->signal_frame = cie->signal_frame;
	fde->return_column = cie->return_column;
	fde->code_align = cie->code_align;
	fde->data_align = cie->data_align;
	fde->pointer_encoding = cie->pointer_encoding;
	fde->cie_program = cie->program;
	fde->program = swz_cursor_rest(cursor);
	return !cursor->failed;
}

void swz_fde_begin(struct swz_fde_iterator *it,
		   const struct swz_eh_frame *section)
{
	it->section = *section;
	it->offset = 0;
	it->skipped = 0;
	it->cie_valid = false;
}

bool swz_fde_next(struct swz_fde_iterator *it, struct swz_fde *fde)
{
	struct entry entry;

	while (read_entry(&it->section, it->offset, &entry, &it->offset)) {
		if (entry.cursor.failed)
			it->skipped++;
		else if (!entry.id)
			continue; /* a CIE */
		else if (!read_fde(it, &entry, fde))
			it->skipped++;
		else if (fde->size)
			return true;
	}
	return false;
}

size_t swz_fde_most(const struct swz_eh_frame *section)
{
	struct entry entry;
	size_t count = 0, offset = 0;

	while (read_entry(section, offset, &entry, &offset))
		count += entry.id != 0;
	return count;
}
