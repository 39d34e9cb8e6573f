/* A thunk lies in libswizzle.so's own address range, and so its address tells
 * what it is. Its return address was written before the thunk was used, and
 * stays: it may be read while the process goes on. When the process has ended
 * what was read before is still known. */

#include "watch/hooked_frames.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "profile/support/memory.h"
#include "swizzle/thunk.h"

#define LIBRARY "/libswizzle.so"
/* call *body(%rip); push return_address(%rip); push %rax; lea data(%rip), %rax
 */
static const uint8_t thunk_code[] = {
	0xff, 0x15, 0xfa, 0xff, 0x0f, 0x00, /* data - 6 */
	0xff, 0x35, 0xfc, 0xff, 0x0f, 0x00, /* data + 8 - 12 */
	0x50, 0x48, 0x8d, 0x05, 0xec, 0xff, 0x0f, 0x00};
_Static_assert(SWZ_THUNK_DATA_DISTANCE == 0x100000 &&
		       SWZ_THUNK_REAL_RETURN == 8,
	       "thunk code");

static uint64_t read_thunk(int32_t pid, uint64_t thunk)
{
	uint8_t code[sizeof(thunk_code)];
	uint64_t real;
	struct iovec local[] = {{code, sizeof(code)}, {&real, sizeof(real)}};
	struct iovec remote[] = {
		{(void *)(uintptr_t)thunk, sizeof(code)},
		{(void *)(uintptr_t)(thunk + SWZ_THUNK_DATA_DISTANCE +
				     SWZ_THUNK_REAL_RETURN),
		 sizeof(real)},
	};

	if (process_vm_readv(pid, local, 2, remote, 2, 0) !=
		    (ssize_t)(sizeof(code) + sizeof(real)) ||
	    memcmp(code, thunk_code, sizeof(code)) != 0)
		return 0;
	return real;
}

static uint64_t resolve(void *context, uint64_t return_address)
{
	struct swz_image *image = context;
	struct swz_hooked_frames *hooked = &image->hooked;
	uint32_t *known;
	uint64_t real;

	if (return_address < hooked->start || return_address >= hooked->end ||
	    return_address % SWZ_THUNK_CODE_BYTES != SWZ_THUNK_T)
		return 0;
	real = read_thunk(image->pid, return_address - SWZ_THUNK_T);
	if (!real) {
		uint32_t before = swz_map_get(&hooked->by_thunk, return_address,
					      0);

		return before == SWZ_MAP_NONE ? 0 : hooked->returns[before];
	}
	known = swz_map_at(&hooked->by_thunk, return_address, 0);
	if (*known == SWZ_MAP_NONE) {
		*known = (uint32_t)hooked->count;
		swz_grow(&hooked->returns, &hooked->capacity, hooked->count,
			 sizeof(*hooked->returns));
		hooked->count++;
	}
	hooked->returns[*known] = real;
	return real;
}

void swz_hooked_frames_look_for(struct swz_image *image,
				const struct swz_image_module *module)
{
	const char *path = module->file->path;
	size_t length = strlen(path), name = strlen(LIBRARY);
	uint64_t address;

	if (length < name || strcmp(path + length - name, LIBRARY) != 0 ||
	    !swz_code_file_symbol(module->file,
				  "swizzle_resolve_return_address", &address))
		return;
	image->hooked.start = module->start;
	image->hooked.end = module->end;
	swz_unwinder_resolve(image->unwinder, resolve, image);
}

void swz_hooked_frames_fork(struct swz_image *image,
			    const struct swz_image *parent)
{
	image->hooked.start = parent->hooked.start;
	image->hooked.end = parent->hooked.end;
	if (image->hooked.end)
		swz_unwinder_resolve(image->unwinder, resolve, image);
}

void swz_hooked_frames_free(struct swz_image *image)
{
	swz_map_free(&image->hooked.by_thunk);
	free(image->hooked.returns);
}
