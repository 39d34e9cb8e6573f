#include "base/syscall.h"

bool swz_system_calls_end;
bool swz_memory_is_locked;
