/* Samples have the address of the instruction that they hit, and calls their
 * return address: both are added up by function and instruction, over threads
 * and processes. The code is that of the module's file, which has the build-id
 * of the one that was profiled. */

#include "profile/formats/tables/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/basics.h"
#include "base/printable.h"
#include "profile/names/catalog.h"
#include "profile/names/disassembler.h"
#include "profile/names/symbols.h"
#include "util/memory.h"
#include "util/output.h"

/* --- figures ------------------------------------------------------------- */

/* One address in a function, with its calls and samples. */
struct place {
	uint32_t function; /* of the catalog */
	uint64_t address;  /* ELF virtual address */
	uint64_t samples, calls;
};

struct code {
	uint32_t function;
	struct swz_binding *binding; /* of a profile that has it */
	uint64_t size;               /* as the profile says; 0: not known */
	uint64_t samples, calls;
};

struct listing {
	const struct swz_trace *trace;
	struct place *places;
	size_t place_count, place_capacity;
	struct swz_map place_index; /* (function, address) */
	struct code *codes;
	size_t code_count, code_capacity;
	struct swz_map code_index; /* (function, 0) */
	uint64_t samples;          /* of all functions */
};

static bool is_wanted(const struct listing *l,
		      const struct swz_binding *binding, uint32_t function)
{
	const struct swz_patterns *only = &l->trace->view->only;

	return !only->count ||
	       swz_patterns_match(only, binding->catalog, function, NULL);
}

/* NULL: it is not wanted. */
static struct code *code_of(struct listing *l, struct swz_binding *binding,
			    uint32_t index)
{
	const struct swz_profile_function *f =
		&binding->profile->functions[index];
	uint32_t function = swz_binding_function(binding, index, f->id);
	uint32_t *at;

	if (f->module == SWZ_INDEX_NONE ||
	    swz_module_is_no_file(&binding->profile->modules[f->module]) ||
	    !is_wanted(l, binding, function))
		return NULL;
	at = swz_map_at(&l->code_index, function, 0);
	if (*at == SWZ_MAP_NONE) {
		*at = (uint32_t)l->code_count;
		swz_grow(&l->codes, &l->code_capacity, l->code_count,
			 sizeof(*l->codes));
		l->codes[l->code_count++] = (struct code){.function = function,
							  .binding = binding};
	}
	if (f->size > l->codes[*at].size)
		l->codes[*at].size = f->size;
	return &l->codes[*at];
}

static struct place *place_at(struct listing *l, uint32_t function,
			      uint64_t address)
{
	uint32_t *at = swz_map_at(&l->place_index, function, address);

	if (*at == SWZ_MAP_NONE) {
		*at = (uint32_t)l->place_count;
		swz_grow(&l->places, &l->place_capacity, l->place_count,
			 sizeof(*l->places));
		l->places[l->place_count++] = (struct place){
			.function = function, .address = address};
	}
	return &l->places[*at];
}

static void add_node(struct listing *l, struct swz_binding *binding,
		     const struct swz_profile_thread *thread,
		     const struct swz_node *node)
{
	struct swz_profile *profile = binding->profile;
	bool sampled = profile->header.flags & SWZ_FILE_SAMPLES;
	bool is_hit = sampled && node->open & SWZ_NODE_HIT;
	uint64_t site = node->call_site, bias;
	const struct swz_profile_function *f;
	struct code *code;
	uint32_t caller;

	if (sampled && !is_hit)
		return;
	if (profile->header.flags & SWZ_FILE_SAMPLED)
		site &= ~SWZ_CALL_SITE_LONG;
	if (!site || !node->calls || !swz_thread_has_node(thread, node->parent))
		return;
	/* (counts name the caller by the place of the call alone) */
	caller = profile->header.flags & SWZ_FILE_COUNTS
			 ? swz_profile_function_at(profile, site - 1)
			 : swz_profile_function_by_id(
				   profile,
				   swz_profile_node(profile, node->parent)
					   ->function);
	if (caller == SWZ_INDEX_NONE)
		return;
	if (is_hit)
		l->samples += node->calls;
	code = code_of(l, binding, caller);
	if (!code)
		return;
	f = &profile->functions[caller];
	bias = profile->modules[f->module].record.load_bias;
	if (is_hit) {
		place_at(l, code->function, site - bias)->samples +=
			node->calls;
		code->samples += node->calls;
	} else {
		/* a return address is behind its call */
		place_at(l, code->function, site - bias - 1)->calls +=
			node->calls;
		code->calls += node->calls;
	}
}

static void add_thread(struct listing *l, struct swz_binding *binding,
		       const struct swz_profile_thread *thread)
{
	for (size_t i = 0; i < thread->span_count; i++)
		for (uint32_t j = 0; j < thread->spans[i].count; j++) {
			const struct swz_node *node = swz_profile_node(
				binding->profile, thread->spans[i].unit + j);

			if (node->function != SWZ_FUNCTION_NONE)
				add_node(l, binding, thread, node);
		}
}

/* Names the functions, too, that no node has. */
static void name_all(struct swz_binding *binding)
{
	for (uint32_t i = 0; i < binding->profile->function_count; i++)
		(void)swz_binding_function(binding, i,
					   binding->profile->functions[i].id);
	swz_catalog_resolve(binding->catalog);
}

/* Functions that the user names are shown without any figures, too. */
static void add_named(struct listing *l, struct swz_binding *binding)
{
	for (uint32_t i = 0; i < binding->profile->function_count; i++)
		if (l->trace->view->only.count &&
		    !(binding->profile->functions[i].flags &
		      SWZ_FUNCTION_IMPORT))
			(void)code_of(l, binding, i);
}

/* --- instructions -------------------------------------------------------- */

struct row {
	uint64_t address, target; /* target 0: it jumps nowhere in here */
	size_t size;
	char text[200];
	uint64_t samples, calls;
};

struct rows {
	struct row *items;
	size_t count, capacity;
};

/* Where a jump or a call leads, if its operand says so; 0: elsewhere. */
static uint64_t branch_target(csh handle, const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	return (cs_insn_group(handle, insn, CS_GRP_JUMP) ||
		cs_insn_group(handle, insn, CS_GRP_CALL)) &&
			       x86->op_count == 1 &&
			       x86->operands[0].type == X86_OP_IMM
		       ? (uint64_t)x86->operands[0].imm
		       : 0;
}

/* The function that an instruction leads to, behind its operand. */
static void add_name(struct row *row, struct swz_symbols *symbols,
		     uint64_t target)
{
	size_t length = strlen(row->text);
	uint64_t offset;
	const char *symbol = swz_symbols_name(symbols, target, &offset);
	char *name;

	if (!symbol)
		return;
	name = swz_demangle(symbol, swz_symbols_languages(symbols),
			    SWZ_DEMANGLE_SIMPLE);
	if (offset)
		snprintf(row->text + length, sizeof(row->text) - length,
			 " <%s+0x%" PRIx64 ">", name, offset);
	else
		snprintf(row->text + length, sizeof(row->text) - length,
			 " <%s>", name);
	free(name);
}

static bool decode(struct rows *rows, const uint8_t *bytes, size_t size,
		   uint64_t address, struct swz_symbols *symbols, bool intel)
{
	const uint8_t *at = bytes;
	uint64_t from = address;
	size_t left = size;
	cs_insn *insn;
	csh handle;

	if (!swz_disassembler_open(&handle, intel))
		return false;
	insn = cs_malloc(handle);
	while (insn && left) {
		struct row *row;

		swz_grow(&rows->items, &rows->capacity, rows->count,
			 sizeof(*rows->items));
		row = &rows->items[rows->count];
		*row = (struct row){.address = from};
		if (cs_disasm_iter(handle, &at, &left, &from, insn)) {
			row->size = insn->size;
			row->target = branch_target(handle, insn);
			snprintf(row->text, sizeof(row->text), "%-7s %s",
				 insn->mnemonic, insn->op_str);
			if (row->target && row->target - address >= size) {
				add_name(row, symbols, row->target);
				row->target = 0;
			}
			/* (a function that calls itself does not jump) */
			if (row->target &&
			    cs_insn_group(handle, insn, CS_GRP_CALL)) {
				add_name(row, symbols, row->target);
				row->target = 0;
			}
		} else {
			row->size = 1;
			snprintf(row->text, sizeof(row->text), ".byte   0x%02x",
				 (unsigned)*at);
			at++;
			from++;
			left--;
		}
		rows->count++;
	}
	if (insn)
		cs_free(insn, 1);
	cs_close(&handle);
	return rows->count != 0;
}

/* SWZ_MAP_NONE: no instruction has the address. */
static size_t row_at(const struct rows *rows, uint64_t address)
{
	size_t low;

	SWZ_PARTITION(low, rows->count,
		      rows->items[low].address + rows->items[low].size <=
			      address);
	return low < rows->count && rows->items[low].address <= address
		       ? low
		       : SWZ_MAP_NONE;
}

static void add_figures(const struct listing *l, uint32_t function,
			struct rows *rows)
{
	for (size_t i = 0; i < l->place_count; i++) {
		const struct place *p = &l->places[i];
		size_t row;

		if (p->function != function)
			continue;
		row = row_at(rows, p->address);
		if (row == SWZ_MAP_NONE)
			continue;
		rows->items[row].samples += p->samples;
		rows->items[row].calls += p->calls;
	}
}

/* --- jumps --------------------------------------------------------------- */

/* Each jump has a lane beside the instructions, from where it is to where it
 * leads; short ones are nearest. What finds no lane is not drawn: its operand
 * says where it leads. */

#define LANES 8u

struct jump {
	size_t from, to, low, high;
	unsigned lane; /* LANES: none */
};

struct jumps {
	struct jump *items;
	size_t count, capacity;
	unsigned lanes;
};

static int by_length(const void *left, const void *right)
{
	const struct jump *a = left, *b = right;
	size_t x = a->high - a->low, y = b->high - b->low;

	if (x != y)
		return x < y ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static bool overlap(const struct jump *a, const struct jump *b)
{
	return a->low <= b->high && b->low <= a->high;
}

static void find_jumps(struct jumps *jumps, const struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		size_t to = rows->items[i].target
				    ? row_at(rows, rows->items[i].target)
				    : SWZ_MAP_NONE;

		if (to == SWZ_MAP_NONE ||
		    rows->items[to].address != rows->items[i].target)
			continue;
		swz_grow(&jumps->items, &jumps->capacity, jumps->count,
			 sizeof(*jumps->items));
		jumps->items[jumps->count++] = (struct jump){
			i, to, i < to ? i : to, i < to ? to : i, LANES};
	}
	if (jumps->count > 1)
		qsort(jumps->items, jumps->count, sizeof(*jumps->items),
		      by_length);
	for (size_t i = 0; i < jumps->count; i++) {
		struct jump *jump = &jumps->items[i];
		bool taken[LANES] = {false};
		unsigned lane = 0;

		for (size_t j = 0; j < i; j++)
			if (jumps->items[j].lane < LANES &&
			    overlap(jump, &jumps->items[j]))
				taken[jumps->items[j].lane] = true;
		while (lane < LANES && taken[lane])
			lane++;
		jump->lane = lane;
		if (lane < LANES && lane + 1 > jumps->lanes)
			jumps->lanes = lane + 1;
	}
}

static char end_mark(const struct jump *jump, size_t row)
{
	if (jump->low == jump->high)
		return '+';
	return row == jump->low ? ',' : '\'';
}

/* The lanes beside a row; or below it, before source lines. */
static void draw(const struct jumps *jumps, size_t row, bool below, char *text)
{
	const size_t width = jumps->lanes + 1;
	bool arrives = false, leaves = false;

	memset(text, ' ', width);
	text[width] = '\0';
	for (size_t i = 0; i < jumps->count; i++) {
		const struct jump *jump = &jumps->items[i];
		size_t column = jumps->lanes - 1 - jump->lane;

		if (jump->lane == LANES || row < jump->low || row > jump->high)
			continue;
		if (below) {
			if (row < jump->high)
				text[column] = '|';
			continue;
		}
		if (row > jump->low && row < jump->high) {
			text[column] = '|';
			continue;
		}
		text[column] = end_mark(jump, row);
		for (size_t c = column + 1; c < width; c++)
			if (text[c] == ' ')
				text[c] = '-';
		arrives |= row == jump->to;
		leaves |= row == jump->from;
	}
	if (arrives)
		text[width - 1] = '>';
	else if (leaves)
		text[width - 1] = '-';
}

/* --- source -------------------------------------------------------------- */

/* The lines of the file that was shown last. */
struct source {
	char *path; /* NULL: none so far */
	char *text; /* NULL: it cannot be read */
	char **lines;
	size_t count, capacity;
};

#define MOST_SOURCE (16u << 20)

static void source_free(struct source *s)
{
	free(s->path);
	free(s->text);
	free(s->lines);
	*s = (struct source){.path = NULL};
}

static void source_open(struct source *s, const char *path)
{
	FILE *file;
	size_t size;

	if (s->path && strcmp(s->path, path) == 0)
		return;
	source_free(s);
	s->path = swz_duplicate(path);
	file = fopen(path, "re");
	if (!file)
		return;
	s->text = swz_allocate(MOST_SOURCE + 1, 1);
	size = fread(s->text, 1, MOST_SOURCE, file);
	fclose(file);
	s->text[size] = '\0';
	for (char *rest = s->text; *rest;) {
		swz_grow(&s->lines, &s->capacity, s->count, sizeof(*s->lines));
		s->lines[s->count++] = rest;
		rest += strcspn(rest, "\n");
		if (*rest)
			*rest++ = '\0';
	}
}

/* A tab becomes blanks up to the next multiple of four. */
static void put_line(FILE *stream, char *line)
{
	unsigned column = 0;

	for (size_t length; *line; line += length) {
		char end;

		if (*line == '\t') {
			length = 1;
			fprintf(stream, "%*s", 4 - (int)(column % 4), "");
			column += 4 - column % 4;
			continue;
		}
		length = strcspn(line, "\t");
		end = line[length];
		line[length] = '\0';
		swz_put_text(stream, line);
		line[length] = end;
		column += (unsigned)length;
	}
}

static void put_source(FILE *stream, struct source *s, const char *path,
		       int line, const char *lanes, int indent)
{
	source_open(s, path);
	fprintf(stream, "%*s%s ", indent, "", lanes);
	swz_put_text(stream, swz_base_name(path));
	fprintf(stream, ":%d", line);
	if (s->text && (size_t)line <= s->count) {
		fputs("  ", stream);
		put_line(stream, s->lines[line - 1]);
	}
	putc('\n', stream);
}

/* --- the listing --------------------------------------------------------- */

#define FIGURES 40

static void put_row(FILE *stream, const struct row *row, uint64_t samples,
		    const char *lanes)
{
	if (row->samples)
		fprintf(stream, "%9" PRIu64 " %6.1f%%", row->samples,
			100 * (double)row->samples / (double)samples);
	else
		fprintf(stream, "%9s %7s", "", "");
	if (row->calls)
		fprintf(stream, " %11" PRIu64, row->calls);
	else
		fprintf(stream, " %11s", "");
	fprintf(stream, " %9" PRIx64 "  %s ", row->address, lanes);
	swz_put_text(stream, row->text);
	fputc('\n', stream);
}

static void put_rows(FILE *stream, const struct code *code,
		     const struct rows *rows)
{
	struct swz_catalog *catalog = code->binding->catalog;
	uint32_t module = catalog->functions[code->function].module;
	struct swz_symbols *symbols = swz_catalog_symbols(catalog, module);
	struct source source = {.path = NULL};
	char lanes[LANES + 2], *file = NULL;
	struct jumps jumps = {0};
	int line = 0;

	find_jumps(&jumps, rows);
	for (size_t i = 0; i < rows->count; i++) {
		struct swz_source at = swz_catalog_line(
			catalog, module, symbols, rows->items[i].address);

		if (at.file && at.line > 0 &&
		    (at.line != line || !file || strcmp(file, at.file) != 0)) {
			free(file);
			file = swz_duplicate(at.file);
			line = at.line;
			lanes[0] = '\0';
			if (i)
				draw(&jumps, i - 1, true, lanes);
			else
				memset(lanes, ' ', jumps.lanes + 1),
					lanes[jumps.lanes + 1] = '\0';
			put_source(stream, &source, file, line, lanes, FIGURES);
		}
		draw(&jumps, i, false, lanes);
		put_row(stream, &rows->items[i], code->samples, lanes);
	}
	free(file);
	free(jumps.items);
	source_free(&source);
}

#define MOST_CODE (4u << 20)

/* False: its code is not to be had. */
static bool put_code(FILE *stream, const struct listing *l,
		     const struct code *code, bool intel)
{
	struct swz_catalog *catalog = code->binding->catalog;
	const struct swz_catalog_function *f =
		&catalog->functions[code->function];
	struct swz_symbols *symbols = swz_catalog_symbols(catalog, f->module);
	uint64_t size = code->size;
	struct rows rows = {0};
	uint8_t *bytes;
	bool good;

	if (symbols && swz_symbols_size(symbols, f->address) > size)
		size = swz_symbols_size(symbols, f->address);
	if (!symbols || !size)
		return false;
	if (size > MOST_CODE)
		size = MOST_CODE;
	bytes = swz_allocate(size, 1);
	size = swz_symbols_code(symbols, f->address, bytes, size);
	good = size && decode(&rows, bytes, size, f->address, symbols, intel);
	free(bytes);
	if (good) {
		add_figures(l, code->function, &rows);
		swz_put_text(stream, f->name);
		fputs(" in ", stream);
		swz_put_text(stream, swz_catalog_module_name(catalog, f));
		fprintf(stream, ", %" PRIu64 " byte%s", size, swz_s(size));
		if (l->samples)
			fprintf(stream,
				": %" PRIu64 " of %" PRIu64
				" sample%s (%.1f%%)",
				code->samples, l->samples, swz_s(l->samples),
				100 * (double)code->samples /
					(double)l->samples);
		fprintf(stream, "\n%9s %7s %11s %9s\n", "samples", "share",
			"calls", "address");
		put_rows(stream, code, &rows);
	}
	free(rows.items);
	return good;
}

static int by_samples(const void *left, const void *right)
{
	const struct code *a = left, *b = right;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return (a->function > b->function) - (a->function < b->function);
}

static void put_all(FILE *stream, struct listing *l, struct swz_trace *trace)
{
	size_t shown = 0, most = trace->view->only.count ? SIZE_MAX : 1;
	const char *without = NULL;

	if (l->code_count > 1)
		qsort(l->codes, l->code_count, sizeof(*l->codes), by_samples);
	for (size_t i = 0; i < l->code_count && shown < most; i++) {
		struct code *code = &l->codes[i];

		if (shown && i)
			putc('\n', stream);
		if (put_code(stream, l, code,
			     trace->assembly && trace->assembly->intel))
			shown++;
		else if (!without)
			without = code->binding->catalog
					  ->functions[code->function]
					  .name;
	}
	if (shown)
		return;
	if (without)
		trace->failure = swz_print(
			"the code of %s cannot be read: its file is gone or "
			"has changed",
			without);
	else if (trace->view->only.count)
		trace->failure = swz_print("no function is called %s",
					   trace->view->only.items[0]);
	else
		trace->failure = swz_duplicate("no function has samples");
}

void swz_write_assembly(FILE *stream, struct swz_trace *trace)
{
	struct listing l = {.trace = trace};

	for (size_t i = 0; i < trace->count; i++) {
		struct swz_binding *binding = &trace->bindings[i];
		struct swz_profile *profile = binding->profile;

		name_all(binding);
		for (size_t j = 0; j < profile->thread_count; j++)
			if (swz_trace_wants(trace, &profile->threads[j]))
				add_thread(&l, binding, &profile->threads[j]);
		add_named(&l, binding);
	}
	put_all(stream, &l, trace);
	swz_map_free(&l.place_index);
	swz_map_free(&l.code_index);
	free(l.places);
	free(l.codes);
}
