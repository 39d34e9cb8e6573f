/* Apart from the rest of module.h: what knows the loaded modules needs it,
 * which those who list modules need in turn. */

#include "image/hash.h"
#include "runtime/module/module.h"

uint64_t swz_module_text_hash(const struct swz_module *m, uint64_t seed)
{
	for (unsigned i = 0; i < m->text_count; i++)
		seed = swz_hash(seed,
				(struct swz_bytes){
					swz_module_bytes(m, m->text[i].start),
					m->text[i].end - m->text[i].start});
	return seed;
}
