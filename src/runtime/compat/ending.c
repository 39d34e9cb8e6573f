#include "runtime/compat/ending.h"

#include "runtime/record/tell_end.h"

void swz_ending(int status, void (*real)(int status));
void swz_ending(int status, void (*real)(int status))
{
	swz_tell_end();
	real(status);
}
