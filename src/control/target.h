#ifndef SWZ_CONTROL_TARGET_H
#define SWZ_CONTROL_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

/* The process that is changed: its memory, what is mapped there, and where
 * functions of its libraries are. Nothing of it is trusted. */

struct swz_target_mapping {
	uint64_t start, end, offset, inode;
	bool readable, writable, executable;
	char *path; /* as the process names it; "" where there is none */
};

struct swz_target {
	int32_t pid;
	int memory;           /* of /proc/PID/mem */
	const char *stand_in; /* a file that has what libswizzle.so has there,
			       * where that file cannot be opened; or NULL */
	struct swz_target_mapping *mappings; /* sorted */
	size_t mapping_count, mapping_capacity;
};

/* False: it cannot be opened; errno says why. */
bool swz_target_open(struct swz_target *target, int32_t pid);
void swz_target_close(struct swz_target *target);

/* Reads /proc/PID/maps. False: it cannot be read. */
bool swz_target_read_mappings(struct swz_target *target);

/* The mapping that holds the address, or NULL. */
const struct swz_target_mapping *swz_target_mapping_at(
	const struct swz_target *target, uint64_t address);

/* All bytes, or false. */
bool swz_target_read(const struct swz_target *target, uint64_t address,
		     void *to, size_t bytes);

/* Also where the process may not write itself (of a thread that is traced).
 * What lies in one page is written at once. */
bool swz_target_write(const struct swz_target *target, uint64_t address,
		      const void *from, size_t bytes);

/* The address of a function or variable that the ELF file defines which is
 * mapped there, by its dynamic symbols; 0: it does not. */
uint64_t swz_target_symbol_in(const struct swz_target *target,
			      const struct swz_target_mapping *mapping,
			      const char *name);

/* Likewise, in libc and what belongs to it. */
uint64_t swz_target_symbol(const struct swz_target *target, const char *name);

/* True if a file that is mapped is libswizzle.so, by its path. */
bool swz_target_is_library(const char *path);

/* A path of the process's, as this one can open it; to be freed. */
char *swz_target_path(const struct swz_target *target, const char *path);

/* Before a stop: reads what is needed of libc's code, once. */
void swz_interrupted_prepare(const struct swz_target *target);

/* Calls VISIT for each place that a signal has interrupted, and to which its
 * handler will return: from what the kernel has put on the stack, up to 1 MiB
 * of which are searched. Ends when VISIT returns false. Not thread safe. */
void swz_interrupted_each(const struct swz_target *target,
			  const struct user_regs_struct *registers,
			  bool (*visit)(void *context, uint64_t address),
			  void *context);

/* Threads that may be borrowed to load a library: their stack leads neither
 * through the dynamic linker nor malloc, they hold no lock of libc's, and no
 * signal has interrupted them there. */

struct swz_safe_places;

struct swz_safe_places *swz_safe_places_of(const struct swz_target *target);
void swz_safe_places_free(struct swz_safe_places *places);
bool swz_place_is_safe(struct swz_safe_places *places,
		       const struct user_regs_struct *registers);

#endif
