#include "base/syscall.h"

bool swz_system_calls_end;
