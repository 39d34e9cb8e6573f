#include "runtime/support/decoders.h"

#include "runtime/support/scratch.h"

bool swz_decoders_new(struct swz_decoders *decoders)
{
	for (unsigned i = 0; i < swz_workers_members(); i++) {
		decoders->of[i] = swz_decoder_new(swz_scratch_alloc);
		if (!decoders->of[i])
			return false;
	}
	return true;
}
