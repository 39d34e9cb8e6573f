#ifndef SWZ_THUNKS_MAPS_H
#define SWZ_THUNKS_MAPS_H

/* The process's mappings, from /proc/self/maps, in order of address. No libc;
 * async-signal-safe; a reader belongs to one thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct swz_mapping {
	uint64_t low, high;
	uint64_t offset; /* in its file */
	int protection;  /* PROT_READ and so on */
	bool is_private; /* not MAP_SHARED */
	bool is_stack;   /* [stack] */
};

struct swz_maps {
	char text[2048];
	long length, at;
	long fd;
};

/* Returns false if the list cannot be read. To be closed if true. */
bool swz_maps_open(struct swz_maps *maps);
/* Returns false at the end. */
bool swz_maps_next(struct swz_maps *maps, struct swz_mapping *mapping);
void swz_maps_close(struct swz_maps *maps);

/* The path of the file that is mapped at an address, with its NUL. Returns its
 * length; 0: there is none, or no room. */
size_t swz_mapped_path(uint64_t address, char *path, size_t room);

/* The bounds of the mapping that holds an address; false if none does, *low and
 * *high are then as before. */
bool swz_mapping_of(uint64_t address, uint64_t *low, uint64_t *high);

/* The program break, at the end of a page. */
uint64_t swz_heap_end(void);

/* --- memory near code ----------------------------------------------------- */

/* Maps `bytes` of fresh memory, read+write, every byte of which reaches every
 * byte of [start, end) by a 32-bit displacement and the reverse; NULL if there
 * is no such hole in the address space. Holes are taken as close to the range
 * as they are, but for a program at a fixed address: there at random. Reads
 * /proc/self/maps; without it holes are found by trial. */
void *swz_near_map(uint64_t start, uint64_t end, size_t bytes);

/* Gives back the last bytes, whole pages, of what was got there. */
void swz_near_unmap(void *memory, size_t bytes);

#endif
