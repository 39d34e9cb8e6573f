#include "base/output_name.h"

#include <string.h>
#include <sys/utsname.h>

#include "base/syscall.h"

const char *swz_environment_value(char *const *environment, const char *name,
				  size_t length)
{
	for (; environment && *environment; environment++)
		if (strncmp(*environment, name, length) == 0 &&
		    (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

void swz_host_name(char *name)
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

	swz_host_name(host);
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
	value = swz_environment_value(environment, name, (size_t)(end - name));
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
