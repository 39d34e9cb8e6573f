/* Functions come from FDEs that pass the CFA test, and from symbols where no
 * FDE covers them. FDEs that fail the test stay as pieces: what branches from
 * where is asked of them too. */

#include <string.h>

#include "runtime/discovery/function.h"
#include "runtime/discovery/return_slot.h"
#include "runtime/discovery/references.h"
#include "runtime/support/scratch_memory.h"
#include "runtime/support/worker_threads.h"

static bool is_code(const struct swz_module *m, uint64_t start, uint64_t size)
{
	for (unsigned i = 0; i < m->text_count; i++)
		if (start >= m->text[i].start && start < m->text[i].end)
			return size <= m->text[i].end - start &&
			       size <= UINT32_MAX;
	return false;
}

/* Where the kernel or the dynamic linker jumps to begin a program, whatever it
 * is called and its unwind table says: not a function, as the word on top of
 * the stack is argc. UINT64_MAX in a library, or where the file is not there.
 */
static uint64_t program_start(const struct swz_module *m)
{
	if (m->file.file.size)
		for (unsigned i = 0; i < m->segment_count; i++)
			if (m->segments[i].p_type == PT_INTERP)
				return m->file.header->e_entry;
	return UINT64_MAX;
}

static bool goes_before(const struct swz_function *a,
			const struct swz_function *b)
{
	return a->start != b->start ? a->start < b->start : a->size > b->size;
}

/* Merges two neighbouring runs of `order`, indices of functions. */
static void merge(const struct swz_function *f, const uint32_t *a,
		  const uint32_t *a_end, const uint32_t *b_end, uint32_t *to)
{
	const uint32_t *b = a_end;

	while (a < a_end && b < b_end)
		*to++ = goes_before(&f[*b], &f[*a]) ? *b++ : *a++;
	while (a < a_end)
		*to++ = *a++;
	while (b < b_end)
		*to++ = *b++;
}

/* By start, then size descending. Most tables are sorted already, or made of a
 * few runs that are: indices of runs are merged, then the functions moved.
 * False if there is no memory for it. */
static bool sort(struct swz_function **functions, uint32_t count)
{
	struct swz_function *f = *functions, *sorted;
	uint32_t *order, *other, *runs, run_count = 0;

	for (uint32_t i = 0; i < count; i++)
		run_count += !i || goes_before(&f[i], &f[i - 1]);
	if (run_count <= 1)
		return true;
	order = swz_scratch_alloc_brief(2 * (uint64_t)count * sizeof(*order));
	runs = swz_scratch_alloc_brief((run_count + 1ull) * sizeof(*runs));
	sorted = swz_scratch_alloc_brief((count + 1ull) * sizeof(*sorted));
	if (!order || !runs || !sorted)
		return false;
	other = order + count;
	run_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		order[i] = i;
		if (!i || goes_before(&f[i], &f[i - 1]))
			runs[run_count++] = i;
	}
	while (run_count > 1) {
		uint32_t kept = 0, *swap = order;

		runs[run_count] = count;
		for (uint32_t r = 0; r < run_count; r += 2) {
			uint32_t last = r + 2 < run_count ? r + 2 : run_count;

			merge(f, order + runs[r], order + runs[r + 1],
			      order + runs[last], other + runs[r]);
			runs[kept++] = runs[r];
		}
		run_count = kept;
		order = other;
		other = swap;
	}
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = f[order[i]];
	*functions = sorted;
	return true;
}

/* GCC's and clang's cold parts, and clang's blocks in sections of their own.
 * (GCC's `.part` functions are called like any other.) */
static bool is_name_of_piece(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot && (strstr(dot, ".cold") || strstr(dot, ".__part."));
}

/* A name from the symbol tables for each function that starts at a symbol;
 * global ones are preferred. */
static void name_functions(struct swz_module *m, uint32_t type)
{
	struct swz_elf_symbols it;
	struct swz_elf_symbol s;

	if (swz_elf_symbols_open(&it, &m->file, type) != SWZ_OK)
		return;
	while (swz_elf_symbols_next(&it, &s)) {
		struct swz_function *f;

		if (!swz_is_function_symbol(&s) && s.type != STT_NOTYPE)
			continue;
		f = swz_function_at(m, s.value);
		if (!f || f->start != s.value)
			continue;
		if (s.type == STT_NOTYPE) { /* as clang's pieces have */
			f->is_piece |= is_name_of_piece(s.name);
			continue;
		}
		if (!f->name || s.binding == STB_GLOBAL)
			f->name = s.name;
		if (swz_function_returns_twice(s.name))
			swz_function_refuse(f, SWZ_REFUSE_RETURNS_TWICE);
	}
}

/* Symbols that no FDE covers; returns how many were (or would be) appended at
 * the end of the array. */
static uint32_t add_from_symbols(struct swz_module *m, uint32_t type,
				 struct swz_function *out)
{
	uint64_t start = program_start(m);
	struct swz_elf_symbols it;
	struct swz_elf_symbol s;
	uint32_t count = 0;

	if (swz_elf_symbols_open(&it, &m->file, type) != SWZ_OK)
		return 0;
	while (swz_elf_symbols_next(&it, &s)) {
		if (!swz_is_function_symbol(&s) || !s.size ||
		    !is_code(m, s.value, s.size) ||
		    swz_ranges_have(m->plt, m->plt_count, s.value) ||
		    swz_function_at(m, s.value) || s.value == start ||
		    strcmp(s.name, "_start") == 0)
			continue;
		if (out) {
			out[count] = (struct swz_function){
				.start = s.value,
				.size = (uint32_t)s.size,
				.flags = SWZ_FUNCTION_FROM_SYMBOL,
				.name = s.name,
				.is_piece = is_name_of_piece(s.name),
			};
		}
		count++;
	}
	return count;
}

/* A cold part that begins with a landing pad has a no-operation before it,
 * since an offset of 0 in the exception table means that there is none; its
 * frame is described from the second byte on. */
struct second_row {
	uint64_t function_start;
	uint64_t start;
	int64_t cfa_offset;
};

static bool keep_second_row(void *context, const struct swz_cfi_row *row)
{
	struct second_row *second = context;

	if (row->start == second->function_start)
		return true;
	second->start = row->start;
	second->cfa_offset = row->cfa_offset;
	return false;
}

static bool begins_with_landing_pad(const struct swz_module *m,
				    const struct swz_fde *fde)
{
	struct second_row second = {.function_start = fde->start};

	if (!fde->has_lsda || *swz_module_bytes(m, fde->start) != 0x90)
		return false;
	return swz_cfi_rows(fde, keep_second_row, &second) == SWZ_OK &&
	       second.start == fde->start + 1 && second.cfa_offset != 8;
}

static bool keep_first_row(void *context, const struct swz_cfi_row *row)
{
	*(struct swz_cfi_row *)context = *row;
	return false;
}

/* As swz_fde_is_function, of the first row alone: where the program is not
 * understood further on, scan_slots.c refuses the function. */
static bool is_function(const struct swz_fde *fde)
{
	struct swz_cfi_row row = {.cfa_base = SWZ_CFA_OTHER};

	return !fde->signal_frame &&
	       swz_cfi_rows(fde, keep_first_row, &row) == SWZ_OK &&
	       row.cfa_base == SWZ_CFA_RSP && row.cfa_offset == 8 &&
	       row.return_at_cfa_minus_8;
}

/* finish() finds out which of them are pieces. */
static void collect_fdes(struct swz_module *m, struct swz_fde *fdes,
			 uint32_t count)
{
	uint64_t start = program_start(m);
	struct swz_fde_iterator it;
	uint32_t n = 0;

	swz_fde_begin(&it, &m->eh_frame);
	while (n < count && swz_fde_next(&it, &fdes[n])) {
		struct swz_fde *fde = &fdes[n++];
		struct swz_function *f = &m->functions[m->function_count];

		if (!is_code(m, fde->start, fde->size) ||
		    swz_ranges_have(m->plt, m->plt_count, fde->start))
			continue;
		*f = (struct swz_function){
			.start = fde->start,
			.size = (uint32_t)fde->size,
			.fde = fde,
			.is_piece = fde->start == start,
		};
		m->function_count++;
	}
}

static void drop_duplicates(struct swz_module *m)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->function_count; i++)
		if (!kept ||
		    m->functions[kept - 1].start != m->functions[i].start)
			m->functions[kept++] = m->functions[i];
	m->function_count = kept;
	swz_functions_index(m);
}

static uint64_t text_end(const struct swz_module *m, uint64_t address)
{
	for (unsigned i = 0; i < m->text_count; i++)
		if (address >= m->text[i].start && address < m->text[i].end)
			return m->text[i].end;
	return address;
}

static bool is_endbr64(const uint8_t *code)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

	return memcmp(code, endbr64, sizeof(endbr64)) == 0;
}

/* A jump over eight bytes with a name that callers through a pointer look for
 * there, to compare the type that is behind it (clang's -fsanitize=function, up
 * to version 16). */
static bool is_signature(const uint8_t *code)
{
	static const uint8_t signature[] = {0xeb, 0x06, 'v', '2'};

	return memcmp(code, signature, sizeof(signature)) == 0;
}

/* Bytes at the beginning that stay in place: endbr64, a sanitizer's signature.
 */
static uint8_t site_of(const struct swz_module *m, const struct swz_function *f)
{
	const uint8_t *code = swz_module_bytes(m, f->start);

	if (f->size >= 4 && is_endbr64(code))
		return 4;
	return f->size >= 8 && is_signature(code) ? 8 : 0;
}

static uint64_t end_of(const struct swz_function *f)
{
	return f->start + (f->size < f->room ? f->size : f->room);
}

static bool is_type_of_next(const struct swz_module *m,
			    const struct swz_function *f)
{
	uint64_t end = f->start + f->room;

	/* one that is longer runs on into the next: hand-written code */
	return f->size <= f->room && f + 1 < m->functions + m->function_count &&
	       f[1].start == end && swz_is_type(m, f->start, end);
}

static bool is_piece(const struct swz_module *m, const struct swz_function *f)
{
	return (f->name && is_name_of_piece(f->name)) ||
	       swz_ranges_have(m->loose, m->loose_count, f->start) ||
	       (f->fde &&
		(!is_function(f->fde) || begins_with_landing_pad(m, f->fde))) ||
	       (!f->fde && (swz_is_data(m, f->start, end_of(f)) ||
			    is_type_of_next(m, f))) ||
	       swz_is_branch_thunk((struct swz_bytes){
		       swz_module_bytes(m, f->start), f->size});
}

/* Two words are on the stack at its first byte, a caller's return address and
 * its own, and it goes on to save the frame pointer: no part of a function, for
 * all its table says. Functions of split stacks call it so, having done nothing
 * else yet. */
static bool reads_entry_word(const struct swz_module *m,
			     const struct swz_function *f)
{
	struct swz_cfi_row row = {.cfa_base = SWZ_CFA_OTHER};
	const uint8_t *code = swz_module_bytes(m, f->start);

	if (f->size >= 8 && is_endbr64(code))
		code += 4;
	return f->fde && f->size >= 4 && *code == 0x55 &&
	       swz_cfi_rows(f->fde, keep_first_row, &row) == SWZ_OK &&
	       row.cfa_base == SWZ_CFA_RSP && row.cfa_offset == 16;
}

/* True if its own unwind entry alone says that it is a function, and its bytes
 * belong to the function before it. The two contradict each other, and either
 * may be wrong. */
static bool begins_within_another(const struct swz_function *before,
				  const struct swz_function *f)
{
	return f->fde && !f->name && before->start + before->size > f->start;
}

static void finish_one(const struct swz_module *m, uint32_t i)
{
	struct swz_function *f = &m->functions[i];
	uint64_t end = text_end(m, f->start);

	if (i + 1 < m->function_count && m->functions[i + 1].start < end)
		end = m->functions[i + 1].start;
	f->room = end - f->start < UINT32_MAX ? (uint32_t)(end - f->start)
					      : UINT32_MAX;
	if (f->size > f->room || (i > 0 && begins_within_another(f - 1, f)))
		swz_function_refuse(f, SWZ_REFUSE_OVERLAPS);
	f->site = site_of(m, f);
	if (!f->is_piece)
		f->is_piece = is_piece(m, f);
	f->reads_entry_word = f->is_piece && reads_entry_word(m, f);
}

#define PORTION 2048u

static void finish(void *context, uint32_t begin, uint32_t end, unsigned member)
{
	struct swz_module *m = context;
	uint32_t hookable = 0;

	(void)member;
	for (uint32_t i = begin; i < end; i++) {
		finish_one(m, i);
		hookable += !m->functions[i].is_piece;
	}
	__atomic_fetch_add(&m->hookable_count, hookable, __ATOMIC_RELAXED);
}

/* `all` are the module's, and so many more behind them. */
static bool merge_in(struct swz_module *m, struct swz_function *all,
		     uint32_t more)
{
	m->functions = all;
	m->function_count += more;
	if (!sort(&m->functions, m->function_count))
		return false;
	drop_duplicates(m);
	return true;
}

static struct swz_function *copy_with_room(const struct swz_module *m,
					   uint32_t more)
{
	struct swz_function *all = swz_scratch_alloc_brief(
		(m->function_count + (uint64_t)more) * sizeof(*all));

	if (all)
		memcpy(all, m->functions, m->function_count * sizeof(*all));
	return all;
}

static bool add_symbols(struct swz_module *m)
{
	uint32_t most = add_from_symbols(m, SHT_SYMTAB, NULL) +
			add_from_symbols(m, SHT_DYNSYM, NULL);
	struct swz_function *all;
	uint32_t n;

	if (!most)
		return true;
	all = copy_with_room(m, most);
	if (!all)
		return false;
	n = add_from_symbols(m, SHT_SYMTAB, all + m->function_count);
	n += add_from_symbols(m, SHT_DYNSYM, all + m->function_count + n);
	return merge_in(m, all, n);
}

static bool add_bare(struct swz_module *m, struct swz_decoder *decoder)
{
	uint32_t count;
	const struct swz_function *unlisted = swz_unlisted_functions_find(
		m, decoder, &count);
	struct swz_function *all;

	if (!count)
		return true;
	all = copy_with_room(m, count);
	if (!all)
		return false;
	memcpy(all + m->function_count, unlisted, count * sizeof(*unlisted));
	return merge_in(m, all, count);
}

/* In memory that lasts until all is planned; so far they were where they took
 * the room of what is but found on the way. */
static bool keep(struct swz_module *m)
{
	uint64_t bytes = m->function_count * sizeof(*m->functions);
	struct swz_function *kept = swz_scratch_alloc(bytes);

	if (kept)
		memcpy(kept, m->functions, bytes);
	m->functions = kept;
	return kept;
}

enum swz_status swz_functions_collect(struct swz_module *m,
				      struct swz_decoder *decoder)
{
	uint32_t fdes = (uint32_t)swz_fde_most(&m->eh_frame);
	struct swz_fde *fde = swz_scratch_alloc_brief((fdes + 1) *
						      sizeof(*fde));

	/* room for FDEs first, symbols then: at most all of both tables */
	m->functions = swz_scratch_alloc_brief((fdes + 1ull) *
					       sizeof(*m->functions));
	if (!fde || !m->functions)
		return SWZ_E_NOMEM;
	collect_fdes(m, fde, fdes);
	if (!sort(&m->functions, m->function_count))
		return SWZ_E_NOMEM;
	drop_duplicates(m);
	if ((m->file.file.size && !add_symbols(m)) ||
	    (m->in_scope && !add_bare(m, decoder)))
		return SWZ_E_NOMEM;
	if (!keep(m))
		return SWZ_E_NOMEM;
	if (m->file.file.size) {
		name_functions(m, SHT_SYMTAB);
		name_functions(m, SHT_DYNSYM);
	}
	swz_workers_run(finish, m, m->function_count,
			swz_workers_portion(PORTION));
	return SWZ_OK;
}
