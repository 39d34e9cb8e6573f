#include "profile/formats/shown_values.h"

size_t swz_shown_count(const struct swz_call_values *values)
{
	return (values->exception ? 1 : 0) + values->count;
}

void swz_shown_read(struct swz_shown_value *shown, struct swz_binding *binding,
		    const struct swz_call_values *values, size_t index)
{
	swz_text_clear(&shown->name);
	swz_text_clear(&shown->text);
	shown->value = NULL;
	if (values->exception && index-- == 0) {
		swz_text_put(&shown->name, "exception");
		swz_exception_print(&shown->text, values->exception);
		return;
	}
	shown->value = &values->values[index];
	if (shown->value->pointed)
		swz_text_put_plain(&shown->name, "*");
	swz_text_put_plain(&shown->name, shown->value->name);
	swz_value_print(&shown->text, binding, shown->value);
}

void swz_shown_free(struct swz_shown_value *shown)
{
	swz_text_free(&shown->name);
	swz_text_free(&shown->text);
}
