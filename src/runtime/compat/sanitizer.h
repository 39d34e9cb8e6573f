#ifndef SWZ_RUNTIME_COMPAT_SANITIZER_H
#define SWZ_RUNTIME_COMPAT_SANITIZER_H

#include "runtime/module/module.h"

/* The module's patches are there. */
void swz_sanitizer_patched(const struct swz_module *module);

/* Called by a sanitizer's runtime when it starts: options of its own syntax,
 * static strings. Their names are given by LLVM's sanitizer/asan_interface.h
 * and lsan_interface.h. Those in the environment come after and override. */
const char *__asan_default_options(void);
const char *__lsan_default_options(void);

#endif
