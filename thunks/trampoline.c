#include "thunks/trampoline.h"

#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "thunks/near.h"

#define HEAD_BYTES ((unsigned)SWZ_TRAMPOLINE_BODY) /* push, lea, jmp, id */
#define TYPICAL_BYTES 64u
#define HOOK_BYTES 16u

size_t swz_trampolines_room(uint32_t functions)
{
	return HOOK_BYTES + (size_t)functions * TYPICAL_BYTES +
	       2 * (size_t)SWZ_RELOCATED_MAX;
}

enum swz_status swz_trampolines_open(struct swz_trampolines *region,
				     uint64_t start, uint64_t end, size_t bytes,
				     void (*hook)(void))
{
	region->bytes = (bytes + 4095) & ~(size_t)4095;
	region->start = swz_near_map(start, end, region->bytes);
	if (!region->start)
		return SWZ_E_NOMEM;
	memcpy(region->start, &hook, sizeof(hook));
	region->used = HOOK_BYTES;
	return SWZ_OK;
}

static void put32(uint8_t *at, int64_t value)
{
	int32_t v = (int32_t)value;

	memcpy(at, &v, sizeof(v));
}

const uint8_t *swz_trampoline_write(struct swz_trampolines *region,
				    struct swz_decoder *decoder,
				    struct swz_bytes site, uint64_t address,
				    unsigned wanted, uint32_t function_id,
				    uint8_t *displaced,
				    enum swz_refusal *refusal)
{
	uint8_t *at = region->start + region->used;
	uint8_t *body = at + HEAD_BYTES;
	struct swz_relocation relocation = {0};
	enum swz_status status;

	*refusal = SWZ_REFUSE_OUT_OF_REACH;
	if (region->bytes - region->used < HEAD_BYTES + SWZ_RELOCATED_MAX)
		return NULL;
	status = swz_relocate(decoder, site, address, wanted, (uintptr_t)body,
			      body, SWZ_RELOCATED_MAX, &relocation);
	if (status != SWZ_OK)
		return NULL;
	*refusal = relocation.refusal;
	if (relocation.refusal != SWZ_PATCHED)
		return NULL;
	at[0] = 0x50;
	at[1] = 0x48, at[2] = 0x8d, at[3] = 0x05,
	put32(at + 4, body - (at + 8));
	at[8] = 0xff, at[9] = 0x25, put32(at + 10, region->start - (at + 14));
	memcpy(at + 14, &function_id, sizeof(function_id));
	*displaced = relocation.displaced_bytes;
	region->used += HEAD_BYTES + relocation.written;
	region->used = (region->used + 15) & ~(size_t)15;
	return at;
}

bool swz_trampoline_is(const uint8_t *code)
{
	static const uint8_t lea[] = {0x50, 0x48, 0x8d, 0x05, 0x0a,
				      0,    0,    0,    0xff, 0x25};

	return memcmp(code, lea, sizeof(lea)) == 0;
}

enum swz_status swz_trampolines_seal(struct swz_trampolines *region)
{
	size_t keep = (region->used + 4095) & ~(size_t)4095;

	if (keep < region->bytes)
		swz_sys_munmap(region->start + keep, region->bytes - keep);
	region->bytes = keep;
	return swz_sys_mprotect(region->start, keep, PROT_READ | PROT_EXEC) == 0
		       ? SWZ_OK
		       : SWZ_E_SYSTEM;
}

void swz_patch_write(uint8_t *site, const uint8_t *trampoline)
{
	site[0] = 0xe9;
	put32(site + 1, trampoline - (site + SWZ_JUMP_BYTES));
}
