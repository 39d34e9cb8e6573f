#ifndef SWZ_RUNTIME_SUPPORT_ASIDE_H
#define SWZ_RUNTIME_SUPPORT_ASIDE_H

/* Mappings for the time of planning, apart from the modules: where the kernel
 * would put them, between the libraries, is the room that is within reach of
 * these libraries' jumps. */

#include <stddef.h>

/* As swz_sys_mmap without an address and with offset 0. */
void *swz_map_aside(size_t bytes, int protection, int flags, int fd);

#endif
