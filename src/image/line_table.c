#include "image/line_table.h"

/* Names are read when they are asked for, from the header's bytes: a table of
 * them would need memory. Every entry of a header takes a byte at least, every
 * opcode too, so that no count that the bytes claim makes a loop longer than
 * the bytes are. */

#include <string.h>

#include "image/cursor.h"

enum { /* DWARF 5, 7.22 and 7.5.6 */
       LNS_COPY = 1,
       LNS_ADVANCE_PC,
       LNS_ADVANCE_LINE,
       LNS_SET_FILE,
       LNS_CONST_ADD_PC = 8,
       LNS_FIXED_ADVANCE_PC = 9,
       LNE_END_SEQUENCE = 1,
       LNE_SET_ADDRESS,
       LNCT_PATH = 1,
       LNCT_DIRECTORY = 2,
       FORM_BLOCK2 = 0x03,
       FORM_BLOCK4,
       FORM_DATA2,
       FORM_DATA4,
       FORM_DATA8,
       FORM_STRING,
       FORM_BLOCK,
       FORM_BLOCK1,
       FORM_DATA1,
       FORM_STRP = 0x0e,
       FORM_UDATA,
       FORM_DATA16 = 0x1e,
       FORM_LINE_STRP,
       MOST_FORMATS = 16
};

/* -------------------------------------------------------------- headers */

void swz_line_begin(struct swz_line_iterator *it,
		    const struct swz_line_sections *sections)
{
	it->sections = *sections;
	it->offset = 0;
	it->skipped = 0;
}

static uint64_t offset_from(struct swz_cursor *c, bool wide)
{
	return wide ? swz_cursor_u64(c) : swz_cursor_u32(c);
}

static bool read_header(struct swz_cursor c, struct swz_line_unit *unit)
{
	uint64_t length;

	unit->version = swz_cursor_u16(&c);
	if (unit->version < 2 || unit->version > 5)
		return false;
	/* sizes of addresses and of segment selectors */
	if (unit->version == 5 && (swz_cursor_u8(&c) != 8 || swz_cursor_u8(&c)))
		return false;
	length = offset_from(&c, unit->wide);
	if (c.failed || length > c.size - c.at)
		return false;
	unit->program = (struct swz_bytes){c.data + c.at + length,
					   c.size - c.at - length};
	c.size = c.at + length;
	unit->instruction_bytes = swz_cursor_u8(&c);
	if (unit->version >= 4 && swz_cursor_u8(&c) != 1)
		return false;   /* instructions in bundles */
	swz_cursor_skip(&c, 2); /* is_stmt; line_base */
	unit->line_range = swz_cursor_u8(&c);
	unit->opcode_base = swz_cursor_u8(&c);
	if (!unit->line_range || !unit->opcode_base)
		return false;
	unit->operand_counts = swz_cursor_take(&c, unit->opcode_base - 1u);
	unit->names = swz_cursor_rest(&c);
	return !c.failed;
}

bool swz_line_next(struct swz_line_iterator *it, struct swz_line_unit *unit)
{
	while (it->offset < it->sections.line.size) {
		struct swz_cursor c = swz_cursor(it->sections.line);
		uint64_t length;

		c.at = it->offset;
		memset(unit, 0, sizeof(*unit));
		unit->sections = it->sections;
		length = swz_cursor_u32(&c);
		unit->wide = length == UINT32_MAX;
		if (unit->wide)
			length = swz_cursor_u64(&c);
		if (c.failed || length > c.size - c.at) {
			it->skipped++;
			it->offset = it->sections.line.size;
			return false;
		}
		c.size = c.at + length;
		it->offset = c.size;
		if (read_header(c, unit))
			return true;
		it->skipped++;
	}
	return false;
}

/* ---------------------------------------------------------------- names */

/* The terminated string at the beginning of these bytes, or NULL. */
static const char *string_at(struct swz_bytes bytes)
{
	for (size_t i = 0; i < bytes.size; i++)
		if (!bytes.data[i])
			return (const char *)bytes.data;
	return NULL;
}

static const char *take_string(struct swz_cursor *c)
{
	const char *string = string_at(swz_cursor_rest(c));

	if (string)
		swz_cursor_skip(c, strlen(string) + 1);
	else
		c->failed = true;
	return string;
}

static const char *string_of(struct swz_bytes section, uint64_t offset)
{
	if (offset >= section.size)
		return NULL;
	section.data += offset;
	section.size -= (size_t)offset;
	return string_at(section);
}

struct entry {
	const char *name; /* NULL: cannot be read */
	uint64_t directory;
};

/* DWARF 2 to 4: lists that end with an empty string. */
static bool next_old_directory(struct swz_cursor *c, struct entry *entry)
{
	entry->name = take_string(c);
	entry->directory = 0;
	return entry->name && *entry->name;
}

static bool next_old_file(struct swz_cursor *c, struct entry *entry)
{
	entry->name = take_string(c);
	if (!entry->name || !*entry->name)
		return false;
	entry->directory = swz_cursor_uleb(c);
	swz_cursor_uleb(c); /* time */
	swz_cursor_uleb(c); /* length */
	return !c->failed;
}

static bool old_entry(struct swz_cursor *c,
		      bool (*next)(struct swz_cursor *c, struct entry *entry),
		      uint64_t index, struct entry *entry)
{
	while (index && next(c, entry))
		index--;
	return !index;
}

static bool old_file(const struct swz_line_unit *unit, uint64_t index,
		     struct swz_line_file *file)
{
	struct swz_cursor c = swz_cursor(unit->names);
	struct entry entry, directory;

	/* numbers count from 1; directory 0 is the compilation's, which only
	 * other sections name */
	while (next_old_directory(&c, &directory))
		;
	if (!index || !old_entry(&c, next_old_file, index, &entry))
		return false;
	c = swz_cursor(unit->names);
	if (entry.directory &&
	    old_entry(&c, next_old_directory, entry.directory, &directory))
		file->directory = directory.name;
	file->name = entry.name;
	return true;
}

/* DWARF 5: a description of the entries, their number, the entries. */
struct formats {
	unsigned count;
	struct {
		uint64_t content, form;
	} of[MOST_FORMATS];
};

static bool read_formats(struct swz_cursor *c, struct formats *formats)
{
	formats->count = swz_cursor_u8(c);
	if (!formats->count || formats->count > MOST_FORMATS)
		return false;
	for (unsigned i = 0; i < formats->count; i++) {
		formats->of[i].content = swz_cursor_uleb(c);
		formats->of[i].form = swz_cursor_uleb(c);
	}
	return !c->failed;
}

struct value {
	uint64_t number;
	const char *string;
};

static struct value read_value(struct swz_cursor *c, uint64_t form,
			       const struct swz_line_unit *unit)
{
	struct value value = {0, NULL};

	switch (form) {
	case FORM_STRING:
		value.string = take_string(c);
		break;
	case FORM_LINE_STRP:
		value.string = string_of(unit->sections.line_strings,
					 offset_from(c, unit->wide));
		break;
	case FORM_STRP:
		value.string = string_of(unit->sections.strings,
					 offset_from(c, unit->wide));
		break;
	case FORM_UDATA:
		value.number = swz_cursor_uleb(c);
		break;
	case FORM_DATA1:
		value.number = swz_cursor_u8(c);
		break;
	case FORM_DATA2:
		value.number = swz_cursor_u16(c);
		break;
	case FORM_DATA4:
		value.number = swz_cursor_u32(c);
		break;
	case FORM_DATA8:
		value.number = swz_cursor_u64(c);
		break;
	case FORM_DATA16:
		swz_cursor_skip(c, 16);
		break;
	case FORM_BLOCK:
		swz_cursor_skip(c, swz_cursor_uleb(c));
		break;
	case FORM_BLOCK1:
		swz_cursor_skip(c, swz_cursor_u8(c));
		break;
	case FORM_BLOCK2:
		swz_cursor_skip(c, swz_cursor_u16(c));
		break;
	case FORM_BLOCK4:
		swz_cursor_skip(c, swz_cursor_u32(c));
		break;
	default: /* of unknown length */
		c->failed = true;
	}
	return value;
}

static void read_entry(struct swz_cursor *c, const struct formats *formats,
		       const struct swz_line_unit *unit, struct entry *entry)
{
	entry->name = NULL;
	entry->directory = 0;
	for (unsigned i = 0; i < formats->count; i++) {
		struct value v = read_value(c, formats->of[i].form, unit);

		if (formats->of[i].content == LNCT_PATH)
			entry->name = v.string;
		else if (formats->of[i].content == LNCT_DIRECTORY)
			entry->directory = v.number;
	}
}

/* Reads a list up to the entry wanted; all of it, if there is none such. */
static bool read_list(struct swz_cursor *c, const struct swz_line_unit *unit,
		      uint64_t wanted, struct entry *entry)
{
	struct formats formats;
	uint64_t count;

	if (!read_formats(c, &formats)) {
		/* no entries need no description */
		if (!c->failed && !formats.count && !swz_cursor_uleb(c))
			return false;
		c->failed = true;
		return false;
	}
	count = swz_cursor_uleb(c);
	for (uint64_t i = 0; i < count && !c->failed; i++) {
		read_entry(c, &formats, unit, entry);
		if (i == wanted)
			return !c->failed && entry->name;
	}
	return false;
}

static bool new_file(const struct swz_line_unit *unit, uint64_t index,
		     struct swz_line_file *file)
{
	struct swz_cursor c = swz_cursor(unit->names);
	struct entry entry, directory;

	read_list(&c, unit, UINT64_MAX, &directory);
	if (c.failed || !read_list(&c, unit, index, &entry))
		return false;
	file->name = entry.name;
	c = swz_cursor(unit->names);
	if (entry.directory && read_list(&c, unit, entry.directory, &directory))
		file->directory = directory.name;
	c = swz_cursor(unit->names);
	if (read_list(&c, unit, 0, &directory))
		file->base = directory.name;
	return true;
}

bool swz_line_file(const struct swz_line_unit *unit, uint64_t index,
		   struct swz_line_file *file)
{
	memset(file, 0, sizeof(*file));
	if (!(unit->version >= 5 ? new_file(unit, index, file)
				 : old_file(unit, index, file)))
		return false;
	if (file->name[0] == '/')
		file->directory = NULL;
	if (file->name[0] == '/' ||
	    (file->directory && file->directory[0] == '/'))
		file->base = NULL;
	return true;
}

/* -------------------------------------------------------------- program */

struct machine {
	const struct swz_line_unit *unit;
	bool (*visit)(void *context, const struct swz_line_range *range);
	void *context;
	uint64_t address;
	uint64_t file;
	struct swz_line_range range; /* the one being made, up to `last` */
	uint64_t last;               /* the latest row's address */
	bool in_sequence;
	bool stop;
};

static void end_range(struct machine *m, uint64_t end)
{
	m->range.end = end;
	if (m->range.start < end && !m->visit(m->context, &m->range))
		m->stop = true;
	m->range.start = end;
}

static void put_row(struct machine *m)
{
	if (m->in_sequence && m->address < m->last) {
		/* they never go back: another sequence, then */
		end_range(m, m->last);
		m->in_sequence = false;
	}
	if (!m->in_sequence) {
		m->in_sequence = true;
		m->range.start = m->range.sequence_start = m->address;
		m->range.file = m->file;
	} else if (m->address != m->last && m->file != m->range.file) {
		end_range(m, m->address);
		m->range.file = m->file;
	}
	m->last = m->address;
}

static void reset(struct machine *m)
{
	m->address = 0;
	m->file = 1;
	m->in_sequence = false;
}

static void extended(struct machine *m, struct swz_cursor *c)
{
	struct swz_cursor o = swz_cursor(
		swz_cursor_take(c, swz_cursor_uleb(c)));
	uint8_t opcode = swz_cursor_u8(&o);

	if (o.failed) {
		c->failed = true;
	} else if (opcode == LNE_SET_ADDRESS) {
		m->address = swz_cursor_u64(&o);
		c->failed |= o.failed;
	} else if (opcode == LNE_END_SEQUENCE) {
		if (m->in_sequence)
			end_range(m, m->address);
		reset(m);
	}
}

static void advance(struct machine *m, uint64_t instructions)
{
	m->address += instructions * m->unit->instruction_bytes;
}

static void standard(struct machine *m, struct swz_cursor *c, uint8_t opcode)
{
	const struct swz_line_unit *unit = m->unit;

	switch (opcode) {
	case LNS_COPY:
		put_row(m);
		break;
	case LNS_ADVANCE_PC:
		advance(m, swz_cursor_uleb(c));
		break;
	case LNS_ADVANCE_LINE:
		swz_cursor_sleb(c);
		break;
	case LNS_SET_FILE:
		m->file = swz_cursor_uleb(c);
		break;
	case LNS_CONST_ADD_PC:
		advance(m, (255u - unit->opcode_base) / unit->line_range);
		break;
	case LNS_FIXED_ADVANCE_PC:
		m->address += swz_cursor_u16(c);
		break;
	default:
		for (unsigned i = unit->operand_counts.data[opcode - 1]; i; i--)
			swz_cursor_uleb(c);
	}
}

enum swz_status swz_line_ranges(
	const struct swz_line_unit *unit,
	bool (*visit)(void *context, const struct swz_line_range *range),
	void *context)
{
	struct machine m = {.unit = unit, .visit = visit, .context = context};
	struct swz_cursor c = swz_cursor(unit->program);

	reset(&m);
	while (!m.stop && !swz_cursor_at_end(&c)) {
		uint8_t opcode = swz_cursor_u8(&c);

		if (opcode >= unit->opcode_base) {
			advance(&m, (uint8_t)(opcode - unit->opcode_base) /
					    unit->line_range);
			put_row(&m);
		} else if (opcode) {
			standard(&m, &c, opcode);
		} else {
			extended(&m, &c);
		}
	}
	return c.failed ? SWZ_E_FORMAT : SWZ_OK;
}
