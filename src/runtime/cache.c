/* A plan depends on the module's file, on the text as it is mapped (a debugger
 * may have changed it), on the options that choose functions, and on us. All of
 * that is in the key, or compared. What filters decide that do not change the
 * plan (-F, -N) is decided anew, as are ids and where the trampolines lie. */

#include "runtime/cache.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/hash.h"
#include "base/syscall.h"
#include "runtime/cache_files.h"
#include "runtime/config.h"
#include "runtime/confinement.h"
#include "runtime/filter.h"
#include "runtime/foreign.h"
#include "runtime/function.h"
#include "runtime/message.h"
#include "runtime/scratch.h"
#include "runtime/untouched.h"
#include "runtime/walkers.h"
#include "thunks/fixups.h"
#include "thunks/near.h"
#include "thunks/saved_plan.h"

/* What is added there must be saved here, too, or be of no use once a module is
 * planned. */
_Static_assert(sizeof(struct swz_function) == 72, "what a plan consists of");

#define TIDY_BYTES (UINT64_C(16) << 20) /* stored since it was last tidy */
#define HUGE_BYTES (UINT64_C(4) << 20)
#define PAGE UINT64_C(4096)
#define SETTLED_NS UINT64_C(2000000000)

extern const char swz_text_start[];

static struct {
	uint8_t build_id[32]; /* ours */
	bool on;
	bool untidy;
	bool began; /* the start is over */
	uint64_t stored;
	unsigned used_count, stored_count;
} cache;

void swz_cache_begin(const struct swz_module *modules, unsigned count)
{
	uint64_t ours = (uintptr_t)swz_text_start;

	for (unsigned i = 0; i < count; i++) {
		const struct swz_module *m = &modules[i];

		if (ours < m->start || ours >= m->end || !m->build_id.size ||
		    m->build_id.size > sizeof(cache.build_id))
			continue;
		memcpy(cache.build_id, m->build_id.data, m->build_id.size);
		swz_cache_files_begin();
		cache.on = swz_cache_files_are_there();
	}
}

/* Strings of the file end in it. */
static bool names_end(const struct swz_module *m)
{
	return m->file.file.data[m->file.file.size - 1] == '\0';
}

static bool may_be_kept(const struct swz_module *m)
{
	struct swz_saved_key *key;

	/* source files may be known from other files than the module's */
	return cache.on && !swz_config.location && m->build_id.size &&
	       m->build_id.size <= sizeof(key->build_id) && m->file.file.size &&
	       m->identity.bytes == m->file.file.size && names_end(m);
}

/* -------------------------------------------------------------------- key */

static uint64_t hash_string(uint64_t seed, const char *string)
{
	struct swz_bytes bytes = {(const uint8_t *)string,
				  string ? strlen(string) + 1 : 0};

	return swz_hash(seed, bytes);
}

static uint64_t hash_of_options(void)
{
	uint64_t numbers[] = {swz_config.min_size, swz_config.test_tactic};

	return swz_hash(
		hash_string(0, swz_config.hide),
		(struct swz_bytes){(const uint8_t *)numbers, sizeof(numbers)});
}

static void make_key(const struct swz_module *m, struct swz_saved_key *key)
{
	memset(key, 0, sizeof(*key));
	memcpy(key->build_id, m->build_id.data, m->build_id.size);
	memcpy(key->ours, cache.build_id, sizeof(key->ours));
	key->device = m->identity.device;
	key->inode = m->identity.inode;
	key->file_bytes = m->identity.bytes;
	key->mtime_ns = m->identity.mtime_ns;
	key->ctime_ns = m->identity.ctime_ns;
	key->options = m->in_scope ? hash_of_options() : 0;
	key->flags = (m->in_scope ? SWZ_SAVED_IN_SCOPE : 0) |
		     (m->late ? SWZ_SAVED_LATE : 0) |
		     (swz_has_shadow_stack() ? SWZ_SAVED_SHADOW_STACK : 0);
	key->text_count = m->text_count;
	for (unsigned i = 0; i < m->text_count; i++) {
		key->texts[i].start = m->text[i].start;
		key->texts[i].end = m->text[i].end;
	}
}

static char *put_hex(char *to, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		*to++ = "0123456789abcdef"[bytes[i] >> 4];
		*to++ = "0123456789abcdef"[bytes[i] & 15];
	}
	return to;
}

/* A changed file's plan takes the place of the old one's. */
static void make_name(const struct swz_saved_key *key, size_t build_id_bytes,
		      char *name)
{
	struct swz_saved_key of_file = *key;
	uint64_t hash;

	of_file.file_bytes = of_file.mtime_ns = of_file.ctime_ns = 0;
	memset(of_file.texts, 0, sizeof(of_file.texts));
	hash = swz_hash(0, (struct swz_bytes){(const uint8_t *)&of_file,
					      sizeof(of_file)});
	memcpy(name, SWZ_CACHE_PREFIX, sizeof(SWZ_CACHE_PREFIX));
	name = put_hex(name + strlen(name), key->build_id, build_id_bytes);
	*name++ = '-';
	*put_hex(name, (const uint8_t *)&hash, sizeof(hash)) = '\0';
}

/* These bytes are about to be read, or written to: all of their pages at once
 * take the kernel less time than a page fault each. */
static void expect(struct swz_bytes bytes, bool written)
{
	uint64_t start = (uintptr_t)bytes.data & -PAGE;
	uint64_t end = ((uintptr_t)bytes.data + bytes.size + PAGE - 1) & -PAGE;

	if (end - start >= 8 * PAGE)
		SWZ_SYSCALL(SYS_madvise, start, end - start,
			    written ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
}

static uint64_t hash_of_text(const struct swz_module *m)
{
	uint64_t hash = 0;

	for (unsigned i = 0; i < m->text_count; i++)
		hash = swz_hash(hash,
				(struct swz_bytes){
					swz_module_bytes(m, m->text[i].start),
					m->text[i].end - m->text[i].start});
	return hash;
}

static bool text_is_of_file(const struct swz_module *m)
{
	for (unsigned i = 0; i < m->text_count; i++)
		if (!swz_is_untouched(m->load_bias + m->text[i].start,
				      m->load_bias + m->text[i].end))
			return false;
	return true;
}

/* Whether the text is that of the plan. If both are the file's, nothing of it
 * need be read, and a page that is going to be patched is not mapped before it
 * gets its copy. */
static bool has_text_of(const struct swz_module *m,
			const struct swz_saved_header *h)
{
	return (h->facts & SWZ_SAVED_OF_FILE && text_is_of_file(m)) ||
	       hash_of_text(m) == h->text_hash;
}

/* Whether a change of the file would show in its times: they are not exact. */
static bool is_settled(const struct swz_module *m)
{
	struct timespec now;
	uint64_t ns;

	if (SWZ_SYSCALL(SYS_clock_gettime, CLOCK_REALTIME, &now) != 0)
		return false;
	ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	return ns > m->identity.ctime_ns + SETTLED_NS &&
	       ns > m->identity.mtime_ns + SETTLED_NS;
}

/* ---------------------------------------------------------------- reading */

/* Modules that come later find the directory as it was, or none. */
static bool is_there(const struct swz_module *m)
{
	return !m->late || swz_cache_files_are_there();
}

static bool are_told_apart(const struct swz_saved_header *h)
{
	bool watched = h->facts & SWZ_SAVED_WATCHED;

	return !(h->facts & SWZ_SAVED_OFFERS) ||
	       watched == swz_confinement_is_expected();
}

/* Room for the trampolines in reach of the module, where they are read to, and
 * for what is made of the entries behind them. */
static bool map_region(struct swz_module *m, const struct swz_saved_header *h)
{
	size_t bytes = h->trampoline_bytes + h->frame_bytes +
		       SWZ_UNWIND_FIXED_BYTES +
		       (size_t)h->entries * sizeof(struct swz_unwind_entry) +
		       (size_t)h->islands *
			       (SWZ_UNWIND_ISLAND_BYTES + sizeof(int32_t));
	uint8_t *start;

	if (!h->trampoline_bytes)
		return true;
	bytes = (bytes + PAGE - 1) & -PAGE;
	start = swz_near_map(m->start, m->end, bytes);
	if (!start)
		return false;
	if (bytes >= HUGE_BYTES)
		SWZ_SYSCALL(SYS_madvise, start, bytes, MADV_HUGEPAGE);
	expect((struct swz_bytes){start, bytes}, true);
	m->trampolines.start = start;
	m->trampolines.bytes = bytes;
	return true;
}

static struct swz_saved_header *read_head(const struct swz_cache_file *file,
					  const struct swz_saved_key *key)
{
	struct swz_saved_header header, *h;

	if (!swz_cache_files_read(file, &header, sizeof(header)) ||
	    swz_saved_plan_check(&header, file->bytes, key) != SWZ_OK)
		return NULL;
	h = swz_scratch_alloc(swz_saved_plan_head_bytes(&header));
	if (!h)
		return NULL;
	*h = header;
	return swz_cache_files_read(file, h + 1,
				    swz_saved_plan_head_bytes(h) - sizeof(*h))
		       ? h
		       : NULL;
}

static bool read_plan(struct swz_module *m, const struct swz_cache_file *file,
		      const struct swz_saved_key *key,
		      struct swz_saved_plan *plan)
{
	struct swz_saved_header *h = read_head(file, key);
	struct swz_trampolines *region = &m->trampolines;

	if (!h || !has_text_of(m, h) || !map_region(m, h))
		return false;
	return swz_cache_files_read(file, region->start,
				    h->trampoline_bytes + h->frame_bytes) &&
	       swz_saved_plan_open(plan, h, region->start) == SWZ_OK;
}

void swz_cache_find(struct swz_module *m)
{
	char name[SWZ_CACHE_NAME_BYTES];
	struct swz_saved_plan *plan;
	struct swz_saved_key key;
	struct swz_cache_file file;

	if (!may_be_kept(m) || !is_there(m))
		return;
	make_key(m, &key);
	make_name(&key, m->build_id.size, name);
	plan = swz_scratch_alloc(sizeof(*plan));
	if (!plan || !swz_cache_files_open(name, &file))
		return;
	if (read_plan(m, &file, &key, plan)) {
		m->saved = plan;
		/* as of those that are planned anew: at the start */
		if (!m->late && plan->header->facts & SWZ_SAVED_ASKS)
			swz_confinement_expect();
	} else {
		swz_trampolines_close(&m->trampolines);
	}
	swz_cache_files_close(&file);
}

/* ------------------------------------------------------------------ using */

static void restore_functions(struct swz_module *m, struct swz_function *all,
			      const uint8_t *region)
{
	const struct swz_saved_plan *plan = m->saved;

	for (uint32_t i = 0; i < plan->header->functions; i++) {
		const struct swz_saved_function *from = &plan->functions[i];
		struct swz_function *f = &all[i];

		f->start = from->start;
		f->size = from->size;
		f->status = from->status;
		f->island = from->island;
		f->flags = from->flags;
		f->site = from->site;
		if (from->name)
			f->name = (const char *)m->file.file.data + from->name;
		if (from->trampoline)
			f->trampoline = region + from->trampoline;
	}
}

static const struct swz_wrapper *restore_wrapper(
	const struct swz_module *m, const struct swz_saved_wrapper *saved)
{
	if (saved->kind == SWZ_SAVED_WALKER)
		return swz_walkers_restore(m, saved);
	return saved->kind == SWZ_SAVED_CONFINEMENT
		       ? swz_confinement_restore(saved)
		       : NULL;
}

static bool restore_wrappers(struct swz_module *m, struct swz_function *all,
			     uint8_t *region)
{
	const struct swz_saved_plan *plan = m->saved;

	for (uint32_t i = 0; i < plan->header->wrappers; i++) {
		const struct swz_saved_wrapper *saved = &plan->wrappers[i];
		struct swz_function *f = &all[saved->function];

		f->wrapper = restore_wrapper(m, saved);
		if (!f->wrapper)
			return false;
		swz_trampoline_wrap(
			region + plan->functions[saved->function].trampoline,
			f->wrapper);
	}
	return true;
}

/* The id lies at the end of the head. */
static void number(const struct swz_saved_plan *plan, uint8_t *region,
		   uint32_t id)
{
	for (uint32_t i = 0; i < plan->header->functions; i++, id++) {
		const struct swz_saved_function *f = &plan->functions[i];

		if (f->status == SWZ_PATCHED)
			memcpy(region + f->trampoline + SWZ_TRAMPOLINE_BODY - 4,
			       &id, sizeof(id));
	}
}

/* Islands are in the module: their distances from the region. */
static bool move_islands(const struct swz_saved_plan *plan,
			 struct swz_trampolines *region, int64_t by)
{
	const struct swz_saved_header *h = plan->header;
	int32_t *islands = swz_scratch_alloc(h->islands * sizeof(*islands));

	for (uint32_t i = 0; i < h->islands; i++) {
		int64_t distance = plan->islands[i] + by;

		if (!islands || distance != (int32_t)distance ||
		    (uint64_t)distance < region->bytes)
			return false;
		islands[i] = (int32_t)distance;
	}
	region->islands = islands;
	region->island_count = h->islands;
	return true;
}

/* Makes the trampolines what they must be for these places. */
static bool fit_region(const struct swz_module *m,
		       struct swz_trampolines *region,
		       const struct swz_hooks *hooks)
{
	const struct swz_saved_plan *plan = m->saved;
	const struct swz_saved_header *h = plan->header;
	uint64_t module_by = m->load_bias - h->load_bias;
	int64_t by = (int64_t)(module_by -
			       ((uintptr_t)region->start - h->region));

	memcpy(region->start, hooks, sizeof(*hooks));
	region->used = h->trampoline_bytes;
	region->unwind = (struct swz_unwind_table){
		.frame = (uint8_t *)(uintptr_t)plan->frame,
		.room = h->frame_bytes,
		.used = h->frame_bytes,
		.entries = (struct swz_unwind_entry *)(uintptr_t)plan->entries,
		.count = h->entries,
	};
	if (swz_fixups_apply_relative(region->start, plan->relative,
				      h->relative, by) != SWZ_OK ||
	    !move_islands(plan, region, by))
		return false;
	swz_fixups_apply_absolute(region->start, plan->absolute, h->absolute,
				  module_by);
	number(plan, region->start, m->first_id);
	return true;
}

static void filter(struct swz_module *m)
{
	if (!m->in_scope || !(swz_config.filter || swz_config.notrace))
		return;
	for (uint32_t i = 0; i < m->function_count; i++)
		if (!m->functions[i].wrapper)
			swz_filter_by_name(&m->functions[i]);
}

static bool use(struct swz_module *m, const struct swz_hooks *hooks,
		uint32_t ids)
{
	const struct swz_saved_header *h = m->saved->header;
	struct swz_trampolines *region = &m->trampolines;
	struct swz_function *all;

	if (!are_told_apart(h) || (m->in_scope && h->functions > ids))
		return false;
	all = swz_scratch_alloc((h->functions + 1ull) * sizeof(*all));
	if (!all)
		return false;
	restore_functions(m, all, region->start);
	if (region->start && (!fit_region(m, region, hooks) ||
			      !restore_wrappers(m, all, region->start) ||
			      swz_trampolines_seal(region) != SWZ_OK))
		return false;
	if (h->facts & SWZ_SAVED_OWN_UNWINDER && !swz_foreign_serve_unwinder(m))
		return false;
	m->functions = all;
	m->function_count = h->functions;
	m->hookable_count = h->functions;
	m->resolver = h->resolver;
	filter(m);
	return true;
}

bool swz_cache_use(struct swz_module *m, const struct swz_hooks *hooks,
		   uint32_t ids)
{
	if (!m->saved)
		return false;
	if (use(m, hooks, ids)) {
		cache.used_count++;
		return true;
	}
	swz_trampolines_close(&m->trampolines);
	m->saved = NULL;
	return false;
}

/* ---------------------------------------------------------------- storing */

/* Decided by this process's memory, or by other modules of it. */
static bool is_circumstantial(const struct swz_module *m)
{
	if (m->unwinder_unserved || m->foreign_runtime)
		return true;
	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct swz_function *f = &m->functions[i];

		if (f->status == SWZ_REFUSE_OUT_OF_REACH ||
		    f->status == SWZ_REFUSE_UNWRITABLE ||
		    f->start + f->size > UINT32_MAX)
			return true;
	}
	return false;
}

/* Pieces have done their duty; so has, where calls are not recorded, all that
 * stays as it is. */
static bool is_kept(const struct swz_module *m, const struct swz_function *f)
{
	return !f->is_piece && (m->in_scope || f->trampoline);
}

static uint32_t name_in_file(const struct swz_module *m,
			     const struct swz_function *f)
{
	uint64_t at = (uintptr_t)f->name - (uintptr_t)m->file.file.data;

	return f->name && at < m->file.file.size && at <= UINT32_MAX
		       ? (uint32_t)at
		       : 0;
}

static void save_function(const struct swz_module *m,
			  const struct swz_function *f,
			  struct swz_saved_function *to)
{
	to->start = (uint32_t)f->start;
	to->size = f->size;
	to->name = name_in_file(m, f);
	to->status = f->status;
	to->island = f->island;
	to->flags = f->flags;
	to->site = f->site;
	if (f->trampoline)
		to->trampoline = (uint32_t)(f->trampoline -
					    m->trampolines.start);
}

static bool find_fixups(const struct swz_module *m,
			const struct swz_function *f, struct swz_fixups *fixups)
{
	struct swz_bytes region = {m->trampolines.start,
				   m->trampolines.code_bytes};
	struct swz_bytes site = {swz_module_bytes(m, f->start + f->site),
				 f->size - f->site};
	uint32_t begin = (uint32_t)(f->trampoline - m->trampolines.start);

	/* a wrapped function's trampoline is its body */
	begin += f->wrapper ? SWZ_TRAMPOLINE_WRAPPING : SWZ_TRAMPOLINE_BODY;
	if (site.size > SWZ_RELOCATED_MAX) /* no more is displaced */
		site.size = SWZ_RELOCATED_MAX;
	return swz_fixups_find(fixups, region, begin, site) == SWZ_OK;
}

static bool save_wrapper(const struct swz_module *m,
			 const struct swz_function *f,
			 struct swz_saved_wrapper *saved)
{
	return swz_confinement_has(f->wrapper)
		       ? swz_confinement_save(f->wrapper, saved)
		       : swz_walkers_save(m, f->wrapper, saved);
}

struct draft {
	struct swz_saved_function *functions;
	struct swz_saved_wrapper wrappers[32];
	uint32_t function_count, wrapper_count;
	struct swz_fixups fixups;
};

#define MOST_WRAPPERS \
	(sizeof((struct draft *)0)->wrappers / sizeof(struct swz_saved_wrapper))

static bool draft_one(const struct swz_module *m, const struct swz_function *f,
		      struct draft *d)
{
	save_function(m, f, &d->functions[d->function_count]);
	if (f->trampoline && !find_fixups(m, f, &d->fixups))
		return false;
	if (f->trampoline && f->wrapper) {
		struct swz_saved_wrapper *w = &d->wrappers[d->wrapper_count];

		if (d->wrapper_count == MOST_WRAPPERS || !save_wrapper(m, f, w))
			return false;
		w->function = d->function_count;
		d->wrapper_count++;
	}
	d->function_count++;
	return true;
}

static bool draft(const struct swz_module *m, struct draft *d)
{
	uint64_t count = m->function_count + 1ull;

	d->functions = swz_scratch_alloc(count * sizeof(*d->functions));
	/* a jump back each, and what some instructions refer to; an address
	 * where a call is displaced */
	d->fixups.relative_room = (uint32_t)(2 * count + 4096);
	d->fixups.absolute_room = (uint32_t)(count + 4096);
	d->fixups.relative = swz_scratch_alloc(d->fixups.relative_room *
					       sizeof(*d->fixups.relative));
	d->fixups.absolute = swz_scratch_alloc(d->fixups.absolute_room *
					       sizeof(*d->fixups.absolute));
	if (!d->functions || !d->fixups.relative || !d->fixups.absolute)
		return false;
	for (uint32_t i = 0; i < m->function_count; i++)
		if (is_kept(m, &m->functions[i]) &&
		    !draft_one(m, &m->functions[i], d))
			return false;
	if (d->fixups.fixed && m->load_bias)
		return false;
	return true;
}

static uint32_t facts_of(const struct swz_module *m)
{
	return (swz_confinement_asks(m) ? SWZ_SAVED_ASKS : 0) |
	       (swz_confinement_is_offered(m) ? SWZ_SAVED_OFFERS : 0) |
	       (swz_confinement_is_expected() ? SWZ_SAVED_WATCHED : 0) |
	       (m->own_unwinder ? SWZ_SAVED_OWN_UNWINDER : 0) |
	       (is_settled(m) && text_is_of_file(m) ? SWZ_SAVED_OF_FILE : 0);
}

static void copy(const void *part, const void *from, size_t bytes)
{
	if (from)
		memcpy((void *)(uintptr_t)part, from, bytes);
}

/* Islands lie at the end of a region that is sealed. */
static void copy_parts(const struct swz_module *m, const struct draft *d,
		       const struct swz_saved_header *h)
{
	const struct swz_trampolines *r = &m->trampolines;
	struct swz_saved_plan plan;

	swz_saved_plan_parts(
		h, (const uint8_t *)h + swz_saved_plan_head_bytes(h), &plan);
	copy(plan.functions, d->functions,
	     h->functions * sizeof(*d->functions));
	copy(plan.wrappers, d->wrappers, h->wrappers * sizeof(*d->wrappers));
	copy(plan.relative, d->fixups.relative, h->relative * sizeof(uint32_t));
	copy(plan.absolute, d->fixups.absolute, h->absolute * sizeof(uint32_t));
	if (!h->trampoline_bytes)
		return;
	copy(plan.entries, r->unwind.entries,
	     h->entries * sizeof(*r->unwind.entries));
	copy(plan.frame, r->unwind.frame, h->frame_bytes);
	copy(plan.islands, r->start + r->used - h->islands * sizeof(int32_t),
	     h->islands * sizeof(int32_t));
	copy(plan.trampolines, r->start, h->trampoline_bytes);
}

static struct swz_saved_header *write_up(const struct swz_module *m,
					 const struct draft *d)
{
	const struct swz_trampolines *r = &m->trampolines;
	struct swz_saved_header header = {
		.version = SWZ_SAVED_VERSION,
		.facts = facts_of(m),
		.text_hash = hash_of_text(m),
		.resolver = m->resolver,
		.load_bias = m->load_bias,
		.functions = d->function_count,
		.wrappers = d->wrapper_count,
		.relative = d->fixups.relative_count,
		.absolute = d->fixups.absolute_count,
	};
	struct swz_saved_header *h;

	memcpy(header.magic, SWZ_SAVED_MAGIC, sizeof(header.magic));
	make_key(m, &header.key);
	if (r->start) {
		header.region = (uintptr_t)r->start;
		header.trampoline_bytes = r->code_bytes;
		header.frame_bytes = r->unwind.used;
		header.entries = r->unwind.count;
		header.islands = r->island_count;
	}
	header.bytes = swz_saved_plan_bytes(&header);
	h = header.bytes ? swz_scratch_alloc(header.bytes) : NULL;
	if (!h)
		return NULL;
	*h = header;
	copy_parts(m, d, h);
	swz_saved_plan_finish(h);
	return h;
}

void swz_cache_store(const struct swz_module *m)
{
	char name[SWZ_CACHE_NAME_BYTES];
	const struct swz_saved_header *h;
	struct draft d = {0};

	if (!may_be_kept(m) || !is_there(m) || is_circumstantial(m) ||
	    (m->trampolines.start && !m->trampolines.unwind.frame) ||
	    !draft(m, &d))
		return;
	h = write_up(m, &d);
	if (!h)
		return;
	make_name(&h->key, m->build_id.size, name);
	if (!swz_cache_files_write(
		    name, (struct swz_bytes){(const uint8_t *)h, h->bytes}))
		return;
	cache.stored += h->bytes;
	cache.stored_count++;
	cache.untidy = true;
}

void swz_cache_end(void)
{
	if (!cache.untidy || (cache.began && cache.stored < TIDY_BYTES))
		return;
	swz_cache_files_tidy();
	cache.untidy = false;
	cache.stored = 0;
	cache.began = true;
}

void swz_cache_report(void)
{
	struct swz_line line;

	if (!cache.on)
		return;
	swz_line_start(&line);
	swz_line_string(&line, "swizzle: plan cache: ");
	swz_line_number(&line, cache.used_count);
	swz_line_string(&line, " modules found, ");
	swz_line_number(&line, cache.stored_count);
	swz_line_string(&line, " stored");
	swz_line_write(&line, 2);
}
