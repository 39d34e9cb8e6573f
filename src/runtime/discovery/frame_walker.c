/* The loop is compiled from
 *
 *	uptr pc1 = frame[1];
 *	...
 *	frame = (uptr *)frame[0];
 *
 * so there is one load from 8(%base) to a register, and one from (%base). */

#include "runtime/discovery/frame_walker.h"

#include <string.h>

#include "runtime/discovery/slot_loads.h"

bool swz_is_frame_walker(const struct swz_function *f)
{
	static const char class[] = "_ZN11__sanitizer18BufferedStackTrace";
	const char *method;

	if (!f->name || strncmp(f->name, class, sizeof(class) - 1) != 0)
		return false;
	method = f->name + sizeof(class) - 1;
	return strncmp(method, "10UnwindFastE", 13) == 0 ||
	       strncmp(method, "15FastUnwindStackE", 18) == 0;
}

/* mov displacement(%base), %r64; the base is not %rsp. */
static bool is_load(const uint8_t *code, const struct swz_encoding *e,
		    int displacement, unsigned *base)
{
	int8_t found = 0;

	if (e->map != SWZ_MAP_ONE_BYTE || e->opcode != 0x8b || !e->rex_w ||
	    e->address_size_32 || swz_modrm_mod(e->modrm) > 1 ||
	    swz_encoding_has_sib(e) || swz_encoding_rip_relative(e))
		return false;
	if (swz_modrm_mod(e->modrm) == 1)
		found = (int8_t)code[e->displacement_at];
	*base = swz_modrm_rm(e->modrm) | (e->extends_base ? 8u : 0u);
	return found == displacement;
}

struct loads {
	unsigned count;  /* from 8(%base) */
	uint64_t at;     /* the first of them */
	unsigned base;   /* of that one */
	unsigned follow; /* a bit for each %base of (%base) */
	struct swz_encoding encoding;
};

static bool find_loads(const struct swz_module *m, const struct swz_function *f,
		       struct swz_decoder *decoder, struct loads *loads)
{
	uint64_t end = f->start + f->size;

	for (uint64_t at = f->start; at < end;) {
		struct swz_bytes code = {swz_module_bytes(m, at), end - at};
		struct swz_encoding e;
		struct swz_insn insn;
		unsigned base;

		if (swz_decode_encoding(decoder, code, at, &insn, &e) != SWZ_OK)
			return false;
		if (is_load(code.data, &e, 0, &base))
			loads->follow |= 1u << base;
		if (is_load(code.data, &e, 8, &base) && !loads->count++) {
			loads->at = at;
			loads->base = base;
			loads->encoding = e;
		}
		at += insn.length;
	}
	return loads->count == 1 && loads->follow >> loads->base & 1;
}

void swz_frame_walker_note(const struct swz_module *m, struct swz_function *f,
			   struct swz_decoder *decoder)
{
	struct swz_slot_loader loader = {0};
	struct loads loads = {0};

	if (!f->load_count && !f->load_site_count && swz_is_frame_walker(f) &&
	    find_loads(m, f, decoder, &loads))
		(void)swz_slot_load_note(m, f, &loader, loads.at,
					 &loads.encoding);
}
