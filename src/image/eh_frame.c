#include "image/eh_frame.h"

/* The section is a chain of entries, each a length and a body: a CIE holds what
 * functions have in common, an FDE describes one function and names its CIE by
 * the distance back to it. An entry that is damaged or of an unsupported form
 * is stepped over by its length; only a damaged length ends the walk. */

#include <string.h>

#include "image/cursor.h"
#include "image/eh_pointer.h"

enum {
	EXTENDED_LENGTH = 0xffffffffu, /* a 64-bit length follows */
	ID_BYTES = 4, /* CIE id or pointer: 4 in either format (LSB 10.6.1) */
	HEADER_VERSION = 1,
	/* a header: version, three encodings, the section's place, the count,
	 * and then pairs of a function's place and its FDE's */
	HEADER_BYTES = 12,
	PAIR_BYTES = 8
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

/* ------------------------------------------------------- by the header's table
 */

/* Sorted by function. All places are from the header's own on. */
struct table {
	const uint8_t *pairs;
	uint64_t base;
	size_t count;
};

static int32_t s4_at(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static bool open_table(const struct swz_eh_frame_header *header,
		       struct table *table)
{
	static const uint8_t usual[] = {
		HEADER_VERSION, SWZ_EH_PE_PCREL | SWZ_EH_PE_SDATA4,
		SWZ_EH_PE_UDATA4, SWZ_EH_PE_DATAREL | SWZ_EH_PE_SDATA4};
	struct swz_bytes bytes = header->bytes;

	if (bytes.size < HEADER_BYTES ||
	    memcmp(bytes.data, usual, sizeof(usual)) != 0)
		return false;
	table->pairs = bytes.data + HEADER_BYTES;
	table->base = header->address;
	table->count = (uint32_t)s4_at(bytes.data + HEADER_BYTES - 4);
	return table->count &&
	       table->count <= (bytes.size - HEADER_BYTES) / PAIR_BYTES;
}

bool swz_eh_frame_header_lists(const struct swz_eh_frame_header *header)
{
	struct table table;

	return open_table(header, &table);
}

static uint64_t function_in(const struct table *table, size_t i)
{
	return table->base +
	       (uint64_t)(int64_t)s4_at(table->pairs + i * PAIR_BYTES);
}

static uint64_t fde_in(const struct table *table, size_t i)
{
	return table->base +
	       (uint64_t)(int64_t)s4_at(table->pairs + i * PAIR_BYTES + 4);
}

static bool covers(const struct swz_fde *fde, uint64_t address)
{
	return address - fde->start < fde->size;
}

bool swz_fde_at(const struct swz_eh_frame *section,
		const struct swz_eh_frame_header *header, uint64_t address,
		struct swz_fde *fde)
{
	struct swz_fde_iterator it;
	struct table table;
	size_t low = 0, high;

	swz_fde_begin(&it, section);
	if (!open_table(header, &table)) {
		while (swz_fde_next(&it, fde))
			if (covers(fde, address))
				return true;
		return false;
	}
	/* the last that does not begin behind the address */
	for (high = table.count; high - low > 1;) {
		size_t middle = low + (high - low) / 2;

		if (function_in(&table, middle) <= address)
			low = middle;
		else
			high = middle;
	}
	it.offset = fde_in(&table, low) - section->address;
	return it.offset < section->bytes.size && swz_fde_next(&it, fde) &&
	       covers(fde, address);
}
