#include "runtime/cache/facts.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "base/syscall.h"
#include "runtime/cache/facts_file.h"
#include "runtime/cache/files.h"
#include "runtime/cache/key.h"
#include "runtime/record/events.h"
#include "runtime/record/function_ids.h"
#include "runtime/record/sampling.h"

/* How long costs are good for: a processor's clock changes with what else there
 * is to do. Those that were measured amid too much else, only for what starts
 * at the same time. */
#define CONFIRMED_NS UINT64_C(60000000000)
#define UNCONFIRMED_NS UINT64_C(2000000000)
/* More than any machine takes for a call: 16,384 ticks. */
#define MOST_COST (UINT64_C(16384) << 10)

/* As it was found, or would be but for the facts. */
static struct swz_facts_file known;
static char name[SWZ_CACHE_NAME_BYTES];

/* Another kernel may run on another machine. */
static bool read_boot(char *boot)
{
	long fd = SWZ_SYSCALL(SYS_open, "/proc/sys/kernel/random/boot_id",
			      O_RDONLY | O_CLOEXEC);
	long n;

	if (fd < 0)
		return false;
	n = SWZ_SYSCALL(SYS_read, fd, boot, SWZ_BOOT_BYTES);
	SWZ_SYSCALL(SYS_close, fd);
	return n == SWZ_BOOT_BYTES;
}

static bool describe(const struct swz_module *linker)
{
	if (!swz_cache_files_begun() || !linker || !linker->build_id.size ||
	    linker->build_id.size > sizeof(known.linker.build_id) ||
	    !linker->file.file.size || !read_boot(known.boot))
		return false;
	memcpy(known.magic, SWZ_FACTS_MAGIC, sizeof(known.magic));
	swz_cache_key_make(&known.linker, linker);
	known.linker.options = (swz_sampling ? 1u : 0) |
			       (swz_tracing ? 2u : 0) |
			       (swz_ids_filtered ? 4u : 0);
	swz_cache_key_name(SWZ_CACHE_FACTS, &known.linker,
			   linker->build_id.size, name);
	return true;
}

static bool read_file(struct swz_facts_file *file)
{
	struct swz_cache_file f;
	bool whole;

	if (!swz_cache_files_open(name, &f))
		return false;
	whole = f.bytes == sizeof(*file) &&
		swz_cache_files_read(&f, file, sizeof(*file));
	swz_cache_files_close(&f);
	return whole && file->hash == swz_facts_file_hash(file);
}

/* All before the facts but the hash. */
static bool is_for_us(const struct swz_facts_file *file)
{
	return memcmp(file->magic, known.magic, sizeof(file->magic)) == 0 &&
	       memcmp(&file->linker, &known.linker,
		      offsetof(struct swz_facts_file, facts) -
			      offsetof(struct swz_facts_file, linker)) == 0;
}

static bool are_good(const struct swz_costs *costs)
{
	uint64_t age = swz_sys_monotonic_ns() - costs->measured_ns;

	return costs->measured_ns &&
	       age < (costs->confirmed ? CONFIRMED_NS : UNCONFIRMED_NS) &&
	       costs->inside <= MOST_COST && costs->outside <= MOST_COST &&
	       costs->untimed <= MOST_COST && costs->leaf <= MOST_COST;
}

void swz_facts_find(const struct swz_modules *modules, struct swz_facts *facts)
{
	struct swz_facts_file file;

	memset(facts, 0, sizeof(*facts));
	if (!describe(swz_linker_module(modules)) || !read_file(&file) ||
	    !is_for_us(&file))
		return;
	known.facts = file.facts;
	facts->calls = file.facts.calls;
	if (are_good(&file.facts.costs))
		facts->costs = file.facts.costs;
}

static bool is_known(const struct swz_facts *facts)
{
	return facts->costs.measured_ns == known.facts.costs.measured_ns &&
	       memcmp(&facts->calls, &known.facts.calls,
		      sizeof(facts->calls)) == 0;
}

void swz_facts_keep(const struct swz_facts *facts)
{
	struct swz_bytes part = {(const uint8_t *)&known, sizeof(known)};

	if (!name[0] || is_known(facts))
		return;
	known.facts = *facts;
	known.hash = swz_facts_file_hash(&known);
	(void)swz_cache_files_write(name, &part, 1);
}
