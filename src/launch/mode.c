#include "launch/mode.h"

#include <string.h>

#include "launch/environment.h"

bool swz_sampling_wanted(void)
{
	return strcmp(swz_environment_get("SWIZZLE_MODE"), "sample") == 0;
}

bool swz_both_wanted(void)
{
	return strcmp(swz_environment_get("SWIZZLE_MODE"), "both") == 0;
}
