#include "launch/environment.h"

#include <stdlib.h>

#include "launch/program.h"

const char *swz_environment_get(const char *variable)
{
	const char *value = getenv(variable);

	return value ? value : "";
}

void swz_environment_set(const char *variable, const char *value)
{
	if (setenv(variable, value, 1) != 0)
		swz_die(SWZ_CANNOT_RUN, "no memory");
}
