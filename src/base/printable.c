#include "base/printable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/syscall.h"
#include "swizzle/format.h"
#include "swizzle/values.h"

/* --- text without control characters ------------------------------------- */

static size_t utf8_length(const unsigned char *t, size_t size)
{
	size_t length = t[0] < 0x80   ? 1
			: t[0] < 0xc2 ? 0
			: t[0] < 0xe0 ? 2
			: t[0] < 0xf0 ? 3
			: t[0] < 0xf5 ? 4
				      : 0;
	size_t i;

	if (length > size)
		return 0;
	for (i = 1; i < length; i++)
		if ((t[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, and what lies above U+10FFFF */
	if ((t[0] == 0xe0 && t[1] < 0xa0) || (t[0] == 0xed && t[1] > 0x9f) ||
	    (t[0] == 0xf0 && t[1] < 0x90) || (t[0] == 0xf4 && t[1] > 0x8f))
		return 0;
	return length;
}

size_t swz_utf8_length(const char *text)
{
	return utf8_length((const unsigned char *)text, SIZE_MAX);
}

/* (Those that are not shown lie below U+10000.) */
static bool is_shown(const unsigned char *t, size_t length)
{
	unsigned int code = length == 1   ? t[0]
			    : length == 2 ? (t[0] & 0x1fu) << 6 | (t[1] & 0x3fu)
			    : length == 3 ? (t[0] & 0x0fu) << 12 |
						    (t[1] & 0x3fu) << 6 |
						    (t[2] & 0x3fu)
					  : 0x10000;

	if (code < 0x7f)
		return code >= 0x20;
	return code >= 0xa0 && code != 0x61c &&
	       !(code >= 0x200e && code <= 0x200f) &&
	       !(code >= 0x2028 && code <= 0x202e) &&
	       !(code >= 0x2066 && code <= 0x2069) &&
	       !(code >= 0xfffe && code <= 0xffff);
}

size_t swz_character(const char *text, size_t size, bool *shown)
{
	const unsigned char *t = (const unsigned char *)text;
	size_t length = utf8_length(t, size);

	*shown = length && is_shown(t, length);
	return length ? length : 1;
}

static bool is_kept(char c, const char *kept)
{
	while (*kept && *kept != c)
		kept++;
	return *kept != '\0';
}

void swz_make_printable(char *text, const char *kept)
{
	char *to = text;

	while (*text) {
		bool shown;
		size_t length = swz_character(text, SIZE_MAX, &shown);

		if (!shown && !is_kept(*text, kept)) {
			*to++ = '?';
			text += length;
			continue;
		}
		while (length--)
			*to++ = *text++;
	}
	*to = '\0';
}

/* --- profiles that are full ---------------------------------------------- */

const char *swz_file_bound(uint32_t full, uint32_t flags, const char *option)
{
	switch (full) {
	case SWZ_FULL_NOT:
		return flags & SWZ_FILE_SHORT ? "ulimit -f" : option;
	case SWZ_FULL_DISK:
		return "disk full";
	case SWZ_FULL_LIMIT:
		return "ulimit -f";
	case SWZ_FULL_NAME:
		return "file removed or not to be opened";
	default:
		return "no memory";
	}
}

/* --- reasons of refusals ------------------------------------------------- */

const char *swz_refusal_text(unsigned int reason)
{
	static const char *const texts[] = {
#define X(symbol, text) [symbol] = (text),
		SWZ_REFUSALS(X)
#undef X
	};

	if (reason < sizeof(texts) / sizeof(texts[0]) && texts[reason])
		return texts[reason];
	return "a reason unknown to this version";
}

/* --- values of options --------------------------------------------------- */

#define MOST_ARGUMENTS 64u

const char *swz_value_specs(const char *text, unsigned length)
{
	const char *at = text + length;

	/* the last one: a function may be called name@1139 */
	while (at > text && at[-1] != '@')
		at--;
	return at > text + 1 && at < text + length ? at : NULL;
}

/* A number at *AT, up to MOST; false: none. */
static bool number(const char **at, const char *end, unsigned most,
		   unsigned *value)
{
	const char *s = *at;

	for (*value = 0; s < end && *s >= '0' && *s <= '9'; s++) {
		*value = *value * 10 + (unsigned)(*s - '0');
		if (*value > most)
			return false;
	}
	if (s == *at)
		return false;
	*at = s;
	return true;
}

static bool word(const char **at, const char *end, const char *w)
{
	size_t length = strlen(w);

	if ((size_t)(end - *at) < length || memcmp(*at, w, length) != 0)
		return false;
	*at += length;
	return true;
}

static void on_stack(struct swz_value_spec *spec, unsigned words)
{
	spec->part.place = SWZ_PLACE_STACK;
	spec->part.offset = (int32_t)(8 * words);
}

/* "%rdi", "%stack+2", "%xmm3": elsewhere than where it usually is. */
static bool read_place(const char **at, const char *end,
		       struct swz_value_spec *spec)
{
	static const char names[6][4] = {"rdi", "rsi", "rdx",
					 "rcx", "r8",  "r9"};
	unsigned n;

	if (word(at, end, "stack+")) {
		if (!number(at, end, 4095, &n) || !n)
			return false;
		on_stack(spec, n - 1);
		return true;
	}
	if (word(at, end, "xmm")) {
		if (!number(at, end, 7, &n))
			return false;
		spec->part.place = (uint8_t)(SWZ_PLACE_VECTOR + n);
		return true;
	}
	for (n = 0; n < 6; n++)
		if (word(at, end, names[n])) {
			spec->part.place = (uint8_t)n;
			return true;
		}
	if (!word(at, end, "rax"))
		return false;
	spec->part.place = SWZ_PLACE_RAX;
	return true;
}

static const struct {
	char letter;
	uint8_t type, bytes;
} formats[] = {
	{'d', SWZ_TYPE_SIGNED, 8},   {'i', SWZ_TYPE_SIGNED, 8},
	{'u', SWZ_TYPE_UNSIGNED, 8}, {'x', SWZ_TYPE_HEX, 8},
	{'o', SWZ_TYPE_OCTAL, 8},    {'c', SWZ_TYPE_CHAR, 1},
	{'b', SWZ_TYPE_BOOL, 1},     {'s', SWZ_TYPE_STRING, 8},
	{'S', SWZ_TYPE_STRING, 8},   {'p', SWZ_TYPE_POINTER, 8},
	{'f', SWZ_TYPE_FLOAT, 8},
};

static bool has_size(uint8_t type)
{
	return type != SWZ_TYPE_CHAR && type != SWZ_TYPE_BOOL &&
	       type != SWZ_TYPE_STRING && type != SWZ_TYPE_POINTER;
}

static bool read_format(const char **at, const char *end,
			struct swz_value_spec *spec)
{
	bool known = false;
	unsigned bits;

	for (unsigned i = 0;
	     *at < end && i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (formats[i].letter != **at)
			continue;
		spec->type = formats[i].type;
		spec->part.bytes = formats[i].bytes;
		if (spec->type == SWZ_TYPE_STRING)
			spec->part.kind = **at == 'S' ? SWZ_PART_COUNTED
						      : SWZ_PART_STRING;
		if (**at == 'S')
			spec->part.other = 8;
		known = true;
		++*at;
		break;
	}
	if (*at == end || **at == ',')
		return known;
	if (!has_size(spec->type) || !number(at, end, 80, &bits))
		return false;
	if (spec->type == SWZ_TYPE_FLOAT && bits == 80)
		bits = 128;
	else if (bits == 80 ||
		 (spec->type == SWZ_TYPE_FLOAT && bits != 32 && bits != 64))
		return false;
	if (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128)
		return false;
	spec->part.bytes = (uint16_t)(bits / 8);
	return true;
}

/* Where the classes of the calling convention put it (SysV ABI, 3.2.3). */
static void usual_place(struct swz_value_spec *spec, bool is_float, unsigned n)
{
	if (spec->at_return)
		spec->part.place = SWZ_PLACE_RAX;
	else if (is_float)
		n <= 8 ? (void)(spec->part.place = (uint8_t)(SWZ_PLACE_VECTOR +
							     n - 1))
		       : on_stack(spec, n - 9);
	else if (n <= 6)
		spec->part.place = (uint8_t)(n - 1);
	else
		on_stack(spec, n - 7);
}

bool swz_value_spec_read(const char **text, const char *end,
			 struct swz_value_spec *spec)
{
	const char *at = *text;
	bool is_float = false;
	unsigned n = 1;

	memset(spec, 0, sizeof(*spec));
	spec->name = at;
	spec->part.bytes = 8;
	if (word(&at, end, "retval"))
		spec->at_return = true;
	else if (word(&at, end, "fparg"))
		is_float = true;
	else if (!word(&at, end, "arg"))
		return false;
	if (!spec->at_return && (!number(&at, end, MOST_ARGUMENTS, &n) || !n))
		return false;
	spec->name_length = (unsigned)(at - *text);
	if (is_float)
		spec->type = SWZ_TYPE_FLOAT;
	usual_place(spec, is_float, n);
	if (at < end && *at == '/') {
		at++;
		if (!read_format(&at, end, spec))
			return false;
	}
	if (at < end && *at == '%') {
		at++;
		if (spec->at_return || !read_place(&at, end, spec))
			return false;
		if (at < end && *at == '/') {
			at++;
			if (!read_format(&at, end, spec))
				return false;
		}
	}
	if (spec->type == SWZ_TYPE_FLOAT && spec->at_return)
		spec->part.place = spec->part.bytes == 16 ? SWZ_PLACE_X87
							  : SWZ_PLACE_VECTOR;
	if (at < end && *at == ',' && at + 1 < end)
		at++;
	else if (at < end)
		return false;
	*text = at;
	return true;
}

/* --- names of output files ----------------------------------------------- */

/* The host's name; *NAME has room for SWZ_HOST_NAME_BYTES. "" if it has none.
 */
#define SWZ_HOST_NAME_BYTES 65u

/* The value of the variable whose name is LENGTH bytes at NAME, or NULL. */
static const char *environment_value(char *const *environment, const char *name,
				     size_t length)
{
	for (; environment && *environment; environment++)
		if (strncmp(*environment, name, length) == 0 &&
		    (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

static void host_name(char *name)
{
	struct utsname host;

	name[0] = '\0';
	if (SWZ_SYSCALL(SYS_uname, &host) != 0)
		return;
	host.nodename[SWZ_HOST_NAME_BYTES - 1] = '\0';
	memcpy(name, host.nodename, strlen(host.nodename) + 1);
}

struct text {
	char *to, *end; /* where the next byte goes, and where none may */
};

static enum swz_output_name_status put(struct text *out, const char *from,
				       size_t length)
{
	if (length >= (size_t)(out->end - out->to))
		return SWZ_OUTPUT_NAME_LONG;
	memcpy(out->to, from, length);
	out->to += length;
	return SWZ_OUTPUT_NAME_FINE;
}

static enum swz_output_name_status put_host(struct text *out)
{
	char host[SWZ_HOST_NAME_BYTES];

	host_name(host);
	return host[0] ? put(out, host, strlen(host)) : SWZ_OUTPUT_NAME_HOST;
}

/* *FROM is behind "%q", and is moved behind the "}". */
static enum swz_output_name_status put_variable(
	struct text *out, const char **from, char *const *environment,
	struct swz_output_name_problem *problem)
{
	const char *name = *from + 1, *end, *value;

	if (**from != '{')
		return SWZ_OUTPUT_NAME_UNCLOSED;
	end = strchr(name, '}');
	if (!end || end == name)
		return SWZ_OUTPUT_NAME_UNCLOSED;
	*from = end + 1;
	value = environment_value(environment, name, (size_t)(end - name));
	*problem = (struct swz_output_name_problem){name, (size_t)(end - name)};
	if (!value)
		return SWZ_OUTPUT_NAME_UNSET;
	return *value ? put(out, value, strlen(value)) : SWZ_OUTPUT_NAME_EMPTY;
}

enum swz_output_name_status swz_output_name_expand(
	const char *pattern, char *const *environment, char *to, size_t room,
	struct swz_output_name_problem *problem)
{
	enum swz_output_name_status status = SWZ_OUTPUT_NAME_FINE;
	struct text out = {to, to + room};

	while (*pattern && status == SWZ_OUTPUT_NAME_FINE) {
		if (pattern[0] == '%' && pattern[1] == 'h') {
			pattern += 2;
			status = put_host(&out);
		} else if (pattern[0] == '%' && pattern[1] == 'q') {
			pattern += 2;
			status = put_variable(&out, &pattern, environment,
					      problem);
		} else {
			status = put(&out, pattern++, 1);
		}
	}
	*out.to = '\0';
	return status;
}

/* --- labels -------------------------------------------------------------- */

/* The variables of MPI's launchers come before Slurm's: where mpirun runs
 * inside a job step, SLURM_PROCID is that of mpirun. */

struct source {
	const char *label;
	bool is_number;
	const char *variables[5];
};

static const struct source sources[] = {
	{"rank",
	 true,
	 {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}},
	{"ranks", true, {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}},
	{"job", false, {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"}},
	{"task", false, {"SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX"}},
	{"service.name", false, {"OTEL_SERVICE_NAME"}},
	{"pod", false, {"POD_NAME"}},
	{"namespace", false, {"POD_NAMESPACE"}},
	/* swizzle-run --caller: for swizzle-dump */
	{SWZ_LABEL_CALLER, false, {"SWIZZLE_CALLER"}},
};

static void add(struct swz_labels *labels, const char *name, const char *value)
{
	size_t first = strlen(name) + 1, second = strlen(value) + 1;

	if (second > SWZ_LABELS_BYTES ||
	    first + second > SWZ_LABELS_BYTES - labels->bytes)
		return;
	memcpy(labels->text + labels->bytes, name, first);
	memcpy(labels->text + labels->bytes + first, value, second);
	labels->bytes += first + second;
	labels->strings += 2;
}

/* At most nine digits. */
static bool is_number(const char *text)
{
	size_t n = 0;

	while (text[n] >= '0' && text[n] <= '9')
		n++;
	return n && n < 10 && !text[n];
}

static void add_first(struct swz_labels *labels, const struct source *source,
		      char *const *environment)
{
	const char *const *variable = source->variables;

	for (; *variable; variable++) {
		const char *value = environment_value(environment, *variable,
						      strlen(*variable));

		if (!value || !*value ||
		    (source->is_number && !is_number(value)))
			continue;
		add(labels, source->label, value);
		return;
	}
}

/* SWIZZLE_LABEL: NAME=VALUE, one a line. */
static void add_given(struct swz_labels *labels, const char *given)
{
	char line[SWZ_LABELS_BYTES];

	while (given && *given) {
		const char *end = strchr(given, '\n');
		size_t length = end ? (size_t)(end - given) : strlen(given);
		char *value;

		if (length < sizeof(line)) {
			memcpy(line, given, length);
			line[length] = '\0';
			value = strchr(line, '=');
			if (value && value != line) {
				*value++ = '\0';
				add(labels, line, value);
			}
		}
		given = end ? end + 1 : NULL;
	}
}

void swz_labels_read(struct swz_labels *labels, char *const *environment)
{
	char host[SWZ_HOST_NAME_BYTES];
	size_t i;

	labels->strings = 0;
	labels->bytes = 0;
	host_name(host);
	if (host[0])
		add(labels, "host", host);
	for (i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		add_first(labels, &sources[i], environment);
	add_given(labels, environment_value(environment, "SWIZZLE_LABEL",
					    strlen("SWIZZLE_LABEL")));
}

static void remove_label(struct swz_labels *labels, const char *name)
{
	size_t at = 0;

	while (at < labels->bytes) {
		size_t first = strlen(labels->text + at) + 1;
		size_t both = first + strlen(labels->text + at + first) + 1;

		if (strcmp(labels->text + at, name) != 0) {
			at += both;
			continue;
		}
		labels->bytes -= both;
		labels->strings -= 2;
		memmove(labels->text + at, labels->text + at + both,
			labels->bytes - at);
	}
}

void swz_labels_set(struct swz_labels *labels, const char *name,
		    const char *value)
{
	remove_label(labels, name);
	add(labels, name, value);
}

static const char *last_part(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

void swz_labels_add_called(struct swz_labels *labels, const char *called,
			   const char *file)
{
	const char *name = last_part(called), *own = last_part(file);

	if (name && *name && own && *own && strcmp(name, own) != 0)
		add(labels, SWZ_LABEL_CALLED, name);
}
