/* Units, by open addressing, at most a quarter of a thread's table. Nothing is
 * taken out, so an empty place ends a search. */

#include "runtime/record/site_table.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/status.h"
#include "base/syscall.h"
#include "runtime/record/file.h"

#define ENTRY_BYTES sizeof(uint32_t)
#define FIRST_BYTES 16384u

static uint64_t place_of(uint32_t function, uint64_t call_site, uint64_t bytes)
{
	return (((call_site + 9ull * function) * SWZ_HASH_MULTIPLIER) >>
		SWZ_HASH_SHIFT) &
	       (bytes / ENTRY_BYTES - 1);
}

static bool is_site(const struct swz_node *site, uint32_t function,
		    uint64_t call_site)
{
	return site->call_site == call_site && site->context == function;
}

struct swz_node *swz_site_find(const struct swz_thread_cold *cold,
			       uint32_t function, uint64_t call_site)
{
	const uint64_t bytes = cold->sites_bytes;
	uint64_t at = place_of(function, call_site, bytes);
	uint32_t unit;

	if (!bytes)
		return NULL;
	while ((unit = cold->sites[at]) != 0) {
		struct swz_node *site = swz_unit_at(unit);

		if (is_site(site, function, call_site))
			return site;
		at = (at + 1) & (bytes / ENTRY_BYTES - 1);
	}
	return NULL;
}

static struct swz_node *put(uint32_t *table, uint64_t bytes,
			    struct swz_node *site)
{
	uint64_t at = place_of(site->context, site->call_site, bytes);

	for (;;) {
		uint32_t there = 0;

		if (__atomic_compare_exchange_n(
			    &table[at], &there, swz_unit_of(site), false,
			    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return site;
		if (is_site(swz_unit_at(there), site->context, site->call_site))
			return swz_unit_at(there);
		at = (at + 1) & (bytes / ENTRY_BYTES - 1);
	}
}

static long forget(uint32_t *table, uint64_t bytes)
{
	return SWZ_SYSCALL(SYS_madvise, table, bytes, MADV_DONTNEED);
}

static enum swz_status grow(struct swz_thread_cold *cold)
{
	uint64_t bytes = cold->sites_bytes ? 4 * cold->sites_bytes
					   : FIRST_BYTES;
	uint64_t old_bytes = cold->sites_bytes;
	uint32_t *old = cold->sites;
	uint32_t *table = swz_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!table)
		return SWZ_E_NOMEM;
	for (uint64_t i = 0; i < old_bytes / ENTRY_BYTES; i++)
		if (old[i])
			put(table, bytes, swz_unit_at(old[i]));
	/* An interrupted hook of this thread may still hold the old one's
	 * address, or find the new one with the old one's length: nothing else
	 * ever lies there. It finds nothing, and looks again. All old tables
	 * are a third of the last. */
	__atomic_store_n(&cold->sites, table, __ATOMIC_RELAXED);
	atomic_signal_fence(memory_order_seq_cst);
	__atomic_store_n(&cold->sites_bytes, bytes, __ATOMIC_RELAXED);
	if (old)
		forget(old, old_bytes);
	return SWZ_OK;
}

static bool is_full_with(const struct swz_thread_cold *cold, uint32_t more)
{
	return 4 * (cold->sites_used + more) * ENTRY_BYTES > cold->sites_bytes;
}

bool swz_site_table_is_full(const struct swz_thread_cold *cold)
{
	return is_full_with(cold, 1);
}

/* A handler may let it grow: then again, in the new one. Twice is no harm. */
struct swz_node *swz_site_insert_amid_signals(struct swz_thread_cold *cold,
					      struct swz_node *site)
{
	struct swz_node *entered;
	uint64_t bytes;
	uint32_t *to;

	__atomic_fetch_add(&cold->sites_used, 1, __ATOMIC_RELAXED);
	do {
		bytes = __atomic_load_n(&cold->sites_bytes, __ATOMIC_RELAXED);
		atomic_signal_fence(memory_order_seq_cst);
		to = __atomic_load_n(&cold->sites, __ATOMIC_RELAXED);
		entered = put(to, bytes, site);
		atomic_signal_fence(memory_order_seq_cst);
	} while (__atomic_load_n(&cold->sites_bytes, __ATOMIC_RELAXED) !=
		 bytes);
	return entered;
}

struct swz_node *swz_site_insert(struct swz_thread_cold *cold,
				 struct swz_node *site)
{
	if (is_full_with(cold, 1) && grow(cold) != SWZ_OK &&
	    2 * (cold->sites_used + 1) * ENTRY_BYTES > cold->sites_bytes)
		return NULL;
	return swz_site_insert_amid_signals(cold, site);
}

void swz_site_table_make_room(struct swz_thread_cold *cold, uint32_t sites)
{
	while (is_full_with(cold, sites) && grow(cold) == SWZ_OK)
		;
}

void swz_site_table_clear(struct swz_thread_cold *cold)
{
	/* not by writing, which would copy it in a forked child */
	if (cold->sites && forget(cold->sites, cold->sites_bytes) != 0)
		memset(cold->sites, 0, cold->sites_bytes);
	cold->sites_used = 0;
}
