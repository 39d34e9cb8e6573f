/* The types and services are Chromium's (its command line's --type=); services
 * are named as in network.mojom.NetworkService. Firefox's processes have
 * -contentproc among their arguments, and their type last. */

#include "profile/file/process_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "profile/support/output.h"

/* What stands behind it in one of the arguments; they may all be in one, as a
 * process' title is. */
static const char *value_of(const struct swz_profile *profile,
			    const char *option, size_t *length)
{
	for (size_t i = 0; i < profile->argument_count; i++) {
		const char *all = profile->arguments[i];
		const char *at = strstr(all, option);

		if (!at || (at > all && at[-1] != ' '))
			continue;
		at += strlen(option);
		*length = strcspn(at, " .");
		return at;
	}
	return NULL;
}

/* The last word, if OPTION is among those before; likewise. */
static const char *last_behind(const struct swz_profile *profile,
			       const char *option, size_t *length)
{
	const char *last = NULL, *end;
	bool found = false;

	for (size_t i = 0; i < profile->argument_count; i++) {
		const char *all = profile->arguments[i];
		const char *at = strstr(all, option);

		found |= at && (at == all || at[-1] == ' ') &&
			 (!at[strlen(option)] || at[strlen(option)] == ' ');
		last = all;
	}
	if (!found)
		return NULL;
	end = last + strlen(last);
	while (end > last && end[-1] == ' ')
		end--;
	*length = 0;
	while (end - *length > last && end[-1 - (ptrdiff_t)*length] != ' ')
		++*length;
	return end - *length;
}

const char *swz_process_name(const struct swz_profile *profile, char *name,
			     size_t room)
{
	size_t of_type = 0, of_service = 0;
	const char *type = value_of(profile, "--type=", &of_type);
	const char *service = value_of(profile,
				       "--utility-sub-type=", &of_service);

	if (!type)
		type = last_behind(profile, "-contentproc", &of_type);
	if (!type)
		of_type = 0;
	if (!service)
		of_service = 0;
	snprintf(name, room, "%s%s%.*s%s%.*s",
		 swz_base_name(profile->executable), of_type ? " " : "",
		 (int)(of_type < 32 ? of_type : 32), type ? type : "",
		 of_service ? " " : "",
		 (int)(of_service < 32 ? of_service : 32),
		 service ? service : "");
	return name;
}
