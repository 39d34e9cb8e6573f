#include "profile/names/value_printers.h"

#include <fnmatch.h>
#include <string.h>

#include "profile/names/dwarf_types.h"
#include "profile/names/value_types.h"
#include "profile/support/memory.h"

const struct swz_rule *swz_printer_of(const struct swz_signature_builder *b,
				      Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);
	size_t i = b->config && swz_tag_is_class(dwarf_tag(type)) && name
			   ? b->config->count
			   : 0;

	while (i--)
		if (b->config->rules[i].kind == SWZ_RULE_PRINTER &&
		    fnmatch(b->config->rules[i].pattern, name, 0) == 0)
			return &b->config->rules[i];
	return NULL;
}

uint32_t swz_size_type(struct swz_signature_builder *b, Dwarf_Die *member)
{
	uint32_t made = swz_value_type_new(b, 0, SWZ_TYPE_STRUCT,
					   swz_die_size(member));
	struct swz_value_member m = {.name = swz_signature_add_text(b, "size"),
				     .type = swz_value_type_add(b, member, 0)};

	b->types[made].first = (uint32_t)b->member_count;
	b->types[made].members = 1;
	swz_grow(&b->members, &b->member_capacity, b->member_count,
		 sizeof(*b->members));
	b->members[b->member_count++] = m;
	return made;
}

bool swz_printer_apply(struct swz_signature_builder *b,
		       const struct swz_rule *printer, Dwarf_Die *type,
		       struct swz_value_part *part)
{
	const char *field = printer->text   ? printer->text
			    : printer->size ? printer->size
					    : printer->pointer;
	uint64_t offset, other, bytes;
	Dwarf_Die member;

	if (!swz_die_member(type, field, &offset, &member, 0) ||
	    !swz_die_peel(&member))
		return false;
	bytes = swz_die_size(&member);
	part->offset = (int32_t)offset;
	if (printer->text) {
		part->kind = SWZ_PART_FIELD;
		if (!printer->length)
			return bytes == 8;
		if (bytes != 8 ||
		    !swz_die_member(type, printer->length, &other, &member,
				    0) ||
		    !swz_die_peel(&member) || other > UINT16_MAX)
			return false;
		part->kind = SWZ_PART_COUNTED;
		part->other = (uint16_t)other;
		part->bytes = (uint16_t)swz_die_size(&member);
		return part->bytes == 4 || part->bytes == 8;
	}
	part->kind = SWZ_PART_MEMORY;
	part->bytes = (uint16_t)(bytes <= 16 ? bytes : 16);
	part->type = printer->size ? swz_size_type(b, &member)
				   : swz_value_type_add(b, &member, 0);
	return true;
}
