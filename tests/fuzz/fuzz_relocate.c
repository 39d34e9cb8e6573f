/* Any bytes as the first instructions of a function, at addresses and with a
 * window that the input chooses: what is accepted must mean the same. */

#include <stdlib.h>
#include <string.h>

#include "../unit/relocation_check.h"
#include "thunks/relocate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the input starts with. */
struct choice {
	uint64_t from;
	int32_t distance;
	uint8_t wanted;
	uint8_t room;
};

static void *zeroed(size_t bytes)
{
	return calloc(1, bytes);
}

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* The code in a block of its own, so that reading beyond it is seen. */
static void check(struct swz_decoder *decoder, const struct choice *choice,
		  struct swz_bytes code)
{
	struct swz_relocation relocation;
	uint64_t to = choice->from + (uint64_t)(int64_t)choice->distance;
	unsigned wanted = 1 + choice->wanted % 14u;
	size_t room = choice->room ? SWZ_RELOCATED_MAX : 16;
	uint8_t *out = malloc(room);
	enum swz_status status;

	require(out != NULL);
	status = swz_relocate(decoder, code, choice->from, wanted, to, out,
			      room, NULL, &relocation);
	if (status == SWZ_OK && relocation.refusal == SWZ_PATCHED)
		require(!relocation_fault(decoder, code, choice->from, wanted,
					  to, out, &relocation));
	require(status == SWZ_OK || status == SWZ_E_RANGE ||
		(status == SWZ_E_NOMEM && room < SWZ_RELOCATED_MAX));
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct swz_decoder *decoder;
	struct choice choice;
	struct swz_bytes code;
	uint8_t *copy;

	if (!decoder)
		decoder = swz_decoder_new(zeroed);
	if (!decoder || size < sizeof(choice))
		return 0;
	memcpy(&choice, data, sizeof(choice));
	code.size = size - sizeof(choice);
	copy = malloc(code.size);
	if (!copy)
		return 0;
	memcpy(copy, data + sizeof(choice), code.size);
	code.data = copy;
	check(decoder, &choice, code);
	free(copy);
	return 0;
}
