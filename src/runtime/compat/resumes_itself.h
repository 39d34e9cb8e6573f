#ifndef SWZ_RUNTIME_COMPAT_RESUMES_ITSELF_H
#define SWZ_RUNTIME_COMPAT_RESUMES_ITSELF_H

#include <stdbool.h>

#include "runtime/module/module.h"

/* Whether a module that is hooked names swizzle_resume_process(), as all code
 * does that includes swizzle.h: then the program may start recording by itself,
 * and needs its hooks for that. The modules are listed. */
bool swz_program_resumes_itself(const struct swz_modules *modules);

#endif
