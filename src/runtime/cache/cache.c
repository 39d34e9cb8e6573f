/* A plan depends on the module's file, on the text as it is mapped (a debugger
 * may have changed it), on the options that choose functions, and on us. All of
 * that is in the key, or compared. What filters decide that do not change the
 * plan (-F, -N) is decided anew, as are ids and where the trampolines lie. */

#include "runtime/cache/cache.h"

#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/cache/files.h"
#include "runtime/cache/key.h"
#include "runtime/cache/plan.h"
#include "runtime/compat/wrapped_functions.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"
#include "runtime/support/scratch.h"
#include "thunks/near.h"

#define TIDY_BYTES (UINT64_C(16) << 20) /* stored since it was last tidy */
#define HUGE_BYTES (UINT64_C(4) << 20)
#define PAGE UINT64_C(4096)

extern const char swz_text_start[];

static struct {
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

		if (ours < m->start || ours >= m->end ||
		    !swz_cache_key_begin(m->build_id))
			continue;
		swz_cache_files_begin();
		cache.on = swz_cache_files_begun();
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

/* Modules that come later find the directory as it was, or none. */
static bool is_there(const struct swz_module *m)
{
	return !m->late || swz_cache_files_are_there();
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
	start = swz_near_map(m->near.start, m->near.end, bytes);
	if (!start)
		return false;
	if (bytes >= HUGE_BYTES)
		SWZ_SYSCALL(SYS_madvise, start, bytes, MADV_HUGEPAGE);
	expect((struct swz_bytes){start, bytes}, true);
	m->trampolines.start = start;
	m->trampolines.bytes = bytes;
	return true;
}

static struct swz_saved_header *read_head(struct swz_cache_file *file,
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

static bool read_plan(struct swz_module *m, struct swz_cache_file *file,
		      const struct swz_saved_key *key,
		      struct swz_saved_plan *plan)
{
	struct swz_saved_header *h = read_head(file, key);
	struct swz_trampolines *region = &m->trampolines;

	if (!h || !swz_cache_text_is_that_of(m, h) || !map_region(m, h))
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
	swz_cache_key_make(&key, m);
	swz_cache_key_name(SWZ_CACHE_PLAN, &key, m->build_id.size, name);
	plan = swz_scratch_alloc(sizeof(*plan));
	if (!plan || !swz_cache_files_open(name, &file))
		return;
	if (read_plan(m, &file, &key, plan)) {
		m->saved = plan;
		/* as of those that are planned anew: at the start */
		if (!m->late && plan->header->facts & SWZ_SAVED_ASKS)
			swz_wrapped_expect();
	} else {
		swz_trampolines_close(&m->trampolines);
	}
	swz_cache_files_close(&file);
}

bool swz_cache_use(struct swz_module *m, const struct swz_hooks *hooks,
		   uint32_t ids)
{
	if (!m->saved)
		return false;
	if (swz_cache_restore(m, hooks, ids)) {
		cache.used_count++;
		return true;
	}
	swz_trampolines_close(&m->trampolines);
	m->saved = NULL;
	return false;
}

void swz_cache_store(const struct swz_module *m)
{
	char name[SWZ_CACHE_NAME_BYTES];
	struct swz_bytes parts[1 + SWZ_SAVED_PARTS];
	struct swz_saved_plan plan;

	if (!may_be_kept(m) || !is_there(m) ||
	    !swz_cache_collect_plan(m, &plan))
		return;
	parts[0].data = (const uint8_t *)plan.header;
	parts[0].size = sizeof(*plan.header);
	swz_saved_plan_list(&plan, parts + 1);
	swz_cache_key_name(SWZ_CACHE_PLAN, &plan.header->key, m->build_id.size,
			   name);
	if (!swz_cache_files_write(name, parts, 1 + SWZ_SAVED_PARTS))
		return;
	cache.stored += plan.header->bytes;
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
	swz_line_string(&line, cache.used_count == 1 ? " module found, "
						     : " modules found, ");
	swz_line_number(&line, cache.stored_count);
	swz_line_string(&line, " stored");
	swz_line_write(&line);
}
