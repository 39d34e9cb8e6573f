#include "runtime/scratch.h"

#include <stdint.h>
#include <sys/mman.h>

#include "base/syscall.h"

#define LEAST_BYTES (1u << 20)
#define HUGE_BYTES (4u << 20)

struct region {
	struct region *before;
	size_t bytes;
	size_t used;
	size_t reserved;
};

static struct region *latest;

void *swz_scratch_alloc(size_t bytes)
{
	struct region *r = latest;
	void *result;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + 15) & ~(size_t)15;
	if (!r || r->bytes - r->used < bytes) {
		size_t need = bytes + sizeof(*r);

		if (need < LEAST_BYTES)
			need = LEAST_BYTES;
		need = (need + 4095) & ~(size_t)4095;
		r = swz_sys_mmap(NULL, need, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (!r)
			return NULL;
		if (need >= HUGE_BYTES) /* fewer page faults; or not */
			SWZ_SYSCALL(SYS_madvise, r, need, MADV_HUGEPAGE);
		r->bytes = need;
		r->used = sizeof(*r);
		r->before = latest;
		latest = r;
	}
	result = (char *)r + r->used;
	r->used += bytes;
	return result;
}

void swz_scratch_free_all(void)
{
	while (latest) {
		struct region *before = latest->before;

		swz_sys_munmap(latest, latest->bytes);
		latest = before;
	}
}

void swz_scratch_abandon(void)
{
	latest = NULL;
}
