#include "profile/formats/printed_lines.h"

#include <string.h>

/* As in src/runtime/record/print_functions.c. */
static const char *const functions[] = {
	"puts",   "fputs",  "fputs_unlocked", "fwrite",  "fwrite_unlocked",
	"perror", "syslog", "__syslog_chk",   "vsyslog", "write",
};

/* libc's names for its own use: _IO_puts, __write. */
static const char *public_name(const char *name)
{
	if (strncmp(name, "_IO_", 4) == 0)
		return name + 4;
	return strncmp(name, "__", 2) == 0 ? name + 2 : name;
}

static bool is_of_libc(const char *name, const char *function)
{
	return strcmp(name, function) == 0 ||
	       strcmp(public_name(name), function) == 0;
}

struct swz_printing swz_printing_of(const struct swz_settings *settings,
				    const char *name)
{
	struct swz_printing printing = {
		.prints = settings && settings->prints == SWZ_YES,
		.argument = settings ? settings->printed : NULL,
		.to_file = is_of_libc(name, "write"),
	};
	size_t i;

	if (settings && settings->prints)
		return printing;
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		printing.prints |= is_of_libc(name, functions[i]);
	return printing;
}

/* -1: none is known. */
static int64_t descriptor_of(const struct swz_call_values *values)
{
	struct swz_file_value file;
	int64_t number;

	if (!values->count)
		return -1;
	if (values->values[0].type->kind == SWZ_TYPE_FILE &&
	    values->values[0].plain.size == sizeof(file)) {
		memcpy(&file, values->values[0].plain.bytes, sizeof(file));
		return file.fd;
	}
	return swz_value_number(&values->values[0], &number) ? number : -1;
}

static const struct swz_value_bytes *text_of(
	const struct swz_printing *printing,
	const struct swz_call_values *values)
{
	size_t i;

	for (i = 0; i < values->count; i++) {
		const struct swz_value *value = &values->values[i];

		if (value->pointed || !value->text.bytes ||
		    (value->text.bad && !value->text.size))
			continue;
		if (!printing->argument ||
		    strcmp(printing->argument, value->name) == 0)
			return &value->text;
	}
	return NULL;
}

bool swz_printed_read(struct swz_text *text,
		      const struct swz_printing *printing,
		      const struct swz_call_values *values)
{
	const struct swz_value_bytes *from;
	size_t size;

	if (!printing->prints || values->moment != SWZ_VALUES_ENTRY)
		return false;
	if (printing->to_file) {
		int64_t descriptor = descriptor_of(values);

		if (descriptor != 1 && descriptor != 2)
			return false;
	}
	from = text_of(printing, values);
	if (!from)
		return false;
	size = from->size;
	while (!from->cut && !from->bad && size &&
	       (from->bytes[size - 1] == '\n' || from->bytes[size - 1] == '\r'))
		size--;
	swz_text_clear(text);
	swz_text_add(text, (const char *)from->bytes, size);
	if (from->cut || from->bad)
		swz_text_put(text, "...");
	return true;
}
