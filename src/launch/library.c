#include "launch/library.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "launch/environment.h"
#include "launch/path.h"
#include "launch/program.h"

/* The library's folder, if `make install` had a LIBDIR that is not one of
 * usual[]. */
#ifndef SWZ_LIBDIR
#define SWZ_LIBDIR ""
#endif

#define LIBRARY "libswizzle.so"

/* The folder that bin/swizzle-run is in. */
static const char *home(const char *argument)
{
	char *self = realpath("/proc/self/exe", NULL), *directory;

	if (!self && strchr(argument, '/'))
		self = realpath(argument, NULL);
	else if (!self)
		self = realpath(swz_program_find(argument, argument), NULL);
	directory = swz_path_directory(swz_path_directory(self));
	return directory ? directory : "";
}

char *swz_dump_find(const char *argument)
{
	char *self = realpath("/proc/self/exe", NULL);

	return swz_text("%s/swizzle-dump",
			swz_path_directory(self ? self : argument));
}

static char *library_in(const char *directory)
{
	char *path = swz_text("%s/" LIBRARY, directory);

	return swz_path_is_regular(path) ? path : NULL;
}

/* Beside bin/, as a distribution installs libraries. */
static const char *const usual[] = {"lib", "lib/x86_64-linux-gnu", "lib64"};

const char *swz_library_find(const char *argument)
{
	const char *top = home(argument), *library = NULL;

	for (size_t i = 0; !library && i < sizeof(usual) / sizeof(*usual); i++)
		library = library_in(swz_text("%s/%s", top, usual[i]));
	if (!library && *SWZ_LIBDIR)
		library = library_in(SWZ_LIBDIR);
	if (!library)
		library = library_in(swz_text("%s/build/lib", top));
	if (!library)
		swz_die(SWZ_CANNOT_RUN,
			LIBRARY " was not found beside swizzle-run (%s/lib)",
			top);
	if (strpbrk(library, " :$"))
		swz_die(SWZ_CANNOT_RUN,
			"%s: LD_PRELOAD cannot name a path with a space, a "
			"colon or a dollar sign in it; install swizzle "
			"elsewhere",
			library);
	return library;
}

static bool is_listed(const char *list, const char *word)
{
	size_t length = strlen(word);

	while (*list) {
		size_t n = strcspn(list, " :");

		if (n == length && strncmp(list, word, n) == 0)
			return true;
		list += n + (list[n] != '\0');
	}
	return false;
}

bool swz_library_preload(const char *library)
{
	const char *list = swz_environment_get("LD_PRELOAD");

	if (is_listed(list, library))
		return true;
	swz_environment_set("LD_PRELOAD",
			    *list ? swz_text("%s:%s", library, list) : library);
	return false;
}
