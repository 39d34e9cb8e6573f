/* One small file with facts of earlier starts: the cost of a call, the linker's
 * call sites, and what is known of modules out of scope. It is read whole, and
 * written only if something in it has changed. */

#include "runtime/cache/start_record.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "image/hash.h"
#include "runtime/cache/cache_files.h"
#include "runtime/module/linker.h"
#include "runtime/module/module.h"
#include "runtime/record/annotations.h"
#include "runtime/record/events.h"
#include "runtime/record/sampling.h"
#include "runtime/support/clock.h"
#include "thunks/saved_plan.h"

#define SWZ_FACTS_MAGIC "SWZfact\n"
/* How long costs are good for: a processor's clock changes with what else there
 * is to do. Those that were measured amid too much else, only for what starts
 * at the same time. */
#define CONFIRMED_NS UINT64_C(60000000000)
#define UNCONFIRMED_NS UINT64_C(2000000000)
/* More than any machine takes for a call: 16,384 ticks. */
#define MOST_COST (UINT64_C(16384) << 10)
/* Clocks are slewed. */
#define SAME_BOOT_NS UINT64_C(500000000)

/* As it was found, or would be but for the facts. */
static struct swz_start_record_file known;
static char name[SWZ_CACHE_NAME_BYTES];
static bool more; /* is known of modules than was found */
static const struct swz_module *linker_described; /* in known.linker */

/* Another kernel may run on another machine. When it began, by this machine's
 * clock, tells it well enough; a clock that is set meanwhile makes all new. */
static bool read_boot(uint64_t *boot_ns)
{
	struct timespec now, since;

	if (!swz_clock_read(CLOCK_REALTIME, &now) ||
	    !swz_clock_read(CLOCK_BOOTTIME, &since))
		return false;
	*boot_ns = (uint64_t)(now.tv_sec - since.tv_sec) * 1000000000u +
		   (uint64_t)now.tv_nsec - (uint64_t)since.tv_nsec;
	return true;
}

/* The linker is a file of that identity, opened or not. */
static bool describe(const struct swz_module *linker)
{
	struct swz_module m;

	if (!swz_cache_files_begun() || !linker || !linker->build_id.size ||
	    linker->build_id.size > sizeof(known.linker.build_id))
		return false;
	m = *linker;
	m.text_count = 0;
	if (!swz_file_identify(m.path, &m.identity) ||
	    !read_boot(&known.boot_ns))
		return false;
	memcpy(known.magic, SWZ_FACTS_MAGIC, sizeof(known.magic));
	swz_cache_key_make(&known.linker, &m);
	linker_described = linker;
	known.linker.options = (swz_sampling ? 1u : 0) |
			       (swz_tracing ? 2u : 0) |
			       (swz_ids_filtered ? 4u : 0);
	swz_cache_key_name(SWZ_CACHE_START_PREFIX, &known.linker,
			   m.build_id.size, name);
	return true;
}

static bool read_file(struct swz_start_record_file *file)
{
	struct swz_cache_file f;
	bool whole;

	if (!swz_cache_files_open(name, &f))
		return false;
	whole = f.bytes == sizeof(*file) &&
		swz_cache_files_read(&f, file, sizeof(*file));
	swz_cache_files_close(&f);
	return whole && file->hash == swz_start_record_file_hash(file);
}

static bool is_same_boot(uint64_t boot_ns)
{
	uint64_t later = boot_ns - known.boot_ns;

	return later < SAME_BOOT_NS || -later < SAME_BOOT_NS;
}

/* All before the facts but the hash. */
static bool is_for_us(const struct swz_start_record_file *file)
{
	return memcmp(file->magic, known.magic, sizeof(file->magic)) == 0 &&
	       memcmp(&file->linker, &known.linker, sizeof(file->linker)) ==
		       0 &&
	       is_same_boot(file->boot_ns) &&
	       file->other_count <= SWZ_MOST_OTHERS;
}

static bool are_good(const struct swz_costs *costs)
{
	uint64_t age = swz_clock_monotonic_ns() - costs->measured_ns;

	return costs->measured_ns &&
	       age < (costs->confirmed ? CONFIRMED_NS : UNCONFIRMED_NS) &&
	       costs->inside <= MOST_COST && costs->outside <= MOST_COST &&
	       costs->untimed <= MOST_COST && costs->leaf <= MOST_COST;
}

void swz_start_record_begin(const struct swz_modules *modules)
{
	struct swz_start_record_file file;

	if (describe(swz_linker_module(modules)) && read_file(&file) &&
	    is_for_us(&file))
		known = file;
}

static bool is_same_file(const struct swz_file_identity *a,
			 const struct swz_file_identity *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       a->bytes == b->bytes && a->mtime_ns == b->mtime_ns &&
	       a->ctime_ns == b->ctime_ns;
}

/* (That of the linker has just been looked at.) */
static bool identify(const struct swz_module *m, struct swz_file_identity *file)
{
	const struct swz_saved_key *key = &known.linker;

	if (m != linker_described)
		return swz_file_identify(m->path, file);
	*file = (struct swz_file_identity){key->device, key->inode,
					   key->file_bytes, key->mtime_ns,
					   key->ctime_ns};
	return true;
}

const struct swz_other_module *swz_start_record_of(const struct swz_module *m)
{
	uint64_t build = swz_hash(0, m->build_id);
	struct swz_file_identity file;

	for (uint32_t i = 0; i < known.other_count; i++) {
		const struct swz_other_module *o = &known.others[i];

		if (o->build == build && m->build_id.size)
			return identify(m, &file) &&
					       is_same_file(&o->file, &file)
				       ? o
				       : NULL;
	}
	return NULL;
}

static void forget(uint32_t at)
{
	known.other_count--;
	memmove(&known.others[at], &known.others[at + 1],
		(known.other_count - at) * sizeof(known.others[0]));
}

void swz_start_record_note(const struct swz_module *m,
			   struct swz_other_module other)
{
	if (!name[0] || !m->build_id.size || !m->identity.bytes ||
	    !swz_cache_file_is_settled(m))
		return;
	other.file = m->identity;
	other.build = swz_hash(0, m->build_id);
	for (uint32_t i = 0; i < known.other_count; i++)
		if (known.others[i].build == other.build)
			forget(i);
	if (known.other_count == SWZ_MOST_OTHERS)
		forget(0);
	known.others[known.other_count++] = other;
	more = true;
}

void swz_start_record_find(struct swz_start_record *facts)
{
	*facts = known.facts;
	if (!are_good(&facts->costs))
		memset(&facts->costs, 0, sizeof(facts->costs));
}

static bool is_known(const struct swz_start_record *facts)
{
	return facts->costs.measured_ns == known.facts.costs.measured_ns &&
	       memcmp(&facts->calls, &known.facts.calls,
		      sizeof(facts->calls)) == 0;
}

void swz_start_record_keep(const struct swz_start_record *facts)
{
	struct swz_bytes part = {(const uint8_t *)&known, sizeof(known)};

	if (!name[0] || (is_known(facts) && !more))
		return;
	known.facts = *facts;
	known.hash = swz_start_record_file_hash(&known);
	(void)swz_cache_files_write(name, &part, 1);
}
