/* Where unwinders look for the unwind information of an address: libgcc's asks
 * _dl_find_object (glibc 2.35), all others and older ones dl_iterate_phdr.
 * Being preloaded, we stand before both, and add what the dynamic linker does
 * not know: regions of trampolines. All else is answered by the real ones.
 *
 * A program that lists its modules by dl_iterate_phdr should see those that it
 * has, so regions are shown only to callers in modules that hold an unwinder.
 */

#include "runtime/compat/find_object.h"

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/hooks/landing.h"
#include "runtime/module/dynamic_symbol.h"
#include "runtime/support/live_sites.h"
#include "swizzle.h"
#include "thunks/region.h"

#define PUBLIC __attribute__((visibility("default")))

/* struct dl_find_object of <dlfcn.h>, which older headers lack */
struct found_object {
	unsigned long long flags;
	void *map_start;
	void *map_end;
	struct link_map *link_map;
	void *unwind_header;
	unsigned long long reserved[7];
};

typedef int find_function(void *address, struct found_object *result);

/* by another name, for <dlfcn.h> may declare it with its own struct */
PUBLIC int find_object(void *address,
		       struct found_object *result) __asm__("_dl_find_object");

int find_object(void *address, struct found_object *result)
{
	static _Atomic(void *) known; /* the real one, once it is looked up */
	find_function *find;
	struct swz_region region;
	void *function;

	if (!swz_live_sites_none_yet())
		swz_landing_begin((uintptr_t)address);
	if (!swz_live_sites_none_yet() &&
	    swz_region_at((uintptr_t)address, &region)) {
		uint64_t end;

		*result = (struct found_object){
			.map_start = (void *)(uintptr_t)region.start,
			.map_end = (void *)(uintptr_t)(region.start +
						       region.bytes),
			.link_map = (struct link_map *)(uintptr_t)swz_map_at(
				(uintptr_t)&find_object, &end),
			.unwind_header =
				(void *)(uintptr_t)region.unwind_header,
		};
		return 0;
	}
	function = atomic_load_explicit(&known, memory_order_relaxed);
	if (!function) {
		function = swz_next_symbol("_dl_find_object");
		atomic_store_explicit(&known, function, memory_order_relaxed);
	}
	*(void **)&find = function;
	return find ? find(address, result) : -1;
}

/* --------------------------------------------------------- dl_iterate_phdr */

/* Modules whose unwinder is their own and exports nothing. A place is in use
 * while `end` is not 0. */
#define MOST_OWN 64u

static struct {
	uint64_t start;
	_Atomic uint64_t end;
} own[MOST_OWN];

void swz_note_unwinder(uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < MOST_OWN; i++) {
		if (atomic_load_explicit(&own[i].end, memory_order_relaxed))
			continue;
		own[i].start = start;
		/* release: matches the acquire in has_own */
		atomic_store_explicit(&own[i].end, end, memory_order_release);
		return;
	}
}

void swz_forget_unwinder(uint64_t start)
{
	for (unsigned i = 0; i < MOST_OWN; i++)
		if (own[i].start == start)
			atomic_store_explicit(&own[i].end, 0,
					      memory_order_relaxed);
}

static bool has_own(uint64_t address)
{
	for (unsigned i = 0; i < MOST_OWN; i++)
		if (address < atomic_load_explicit(&own[i].end,
						   memory_order_acquire) &&
		    address >= own[i].start)
			return true;
	return false;
}

static bool is_unwinder(uint64_t caller)
{
	static const char *const exports[] = {"_Unwind_Backtrace",
					      "_Unwind_RaiseException",
					      "_ULx86_64_step", "unw_step"};
	uint64_t end;
	const struct link_map *map = swz_map_at(caller, &end);

	for (unsigned i = 0; map && i < sizeof(exports) / sizeof(*exports); i++)
		if (swz_map_symbol(map, exports[i]))
			return true;
	return has_own(caller);
}

struct visit {
	swz_phdr_visitor *visit;
	void *data;
	size_t size; /* of the dl_phdr_info that this libc gives */
	unsigned long long adds, subs;
};

static int pass_on(struct dl_phdr_info *info, size_t size, void *data)
{
	struct visit *v = data;

	v->size = size;
	v->adds = info->dlpi_adds;
	v->subs = info->dlpi_subs;
	return v->visit(info, size, v->data);
}

static int show(const struct visit *v, const struct swz_region *region)
{
	ElfW(Phdr) segments[2] = {
		{.p_type = PT_LOAD,
		 .p_flags = PF_R | PF_X,
		 .p_filesz = region->bytes,
		 .p_memsz = region->bytes,
		 .p_align = 4096},
		{.p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_align = 4},
	};
	struct dl_phdr_info info = {
		.dlpi_addr = (uintptr_t)region->start,
		.dlpi_name = "[swizzle]",
		.dlpi_phdr = segments,
		.dlpi_phnum = 2,
		.dlpi_adds = v->adds,
		.dlpi_subs = v->subs,
	};

	segments[1].p_vaddr = (ElfW(Addr))(region->unwind_header -
					   region->start);
	segments[1].p_memsz = region->bytes - segments[1].p_vaddr;
	segments[1].p_filesz = segments[1].p_memsz;
	return v->visit(&info, v->size, v->data);
}

PUBLIC int dl_iterate_phdr(swz_phdr_visitor *visit, void *data)
{
	struct visit v = {.visit = visit, .data = data};
	struct swz_region region;
	unsigned at = 0;
	int result;

	if (!is_unwinder(swizzle_resolve_return_address(
		    (uintptr_t)__builtin_return_address(0))))
		return swz_next_iterate_phdr(visit, data);
	result = swz_next_iterate_phdr(pass_on, &v);
	while (result == 0 && v.size && swz_region_next(&at, &region))
		result = show(&v, &region);
	return result;
}
