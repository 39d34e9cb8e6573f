#ifndef TESTS_UNIT_MADE_UP_MEMORY_H
#define TESTS_UNIT_MADE_UP_MEMORY_H

/* The memory of an interpreter that is not there: what a test puts into it is
 * read as that of a process would be. */

#include <stddef.h>
#include <stdint.h>

enum { BASE = 0x10000, BYTES = 0x8000, OBJECTS = BASE + 0x4000 };

/* All zeros; objects are made from OBJECTS on. */
void memory_begin(void);
/* A swz_script_read: up to the memory's end; nothing from elsewhere. */
size_t memory_read(void *context, uint64_t address, void *into, size_t size);
/* The symbols that the module of the interpreter defines; one whose name is
 * NULL ends them. */
struct memory_symbol {
	const char *name;
	uint64_t address;
};

/* That of a swz_script_module, whose `module` are those symbols. */
uint64_t memory_symbol(void *symbols, const char *name);
void memory_put(uint64_t address, uint64_t value, size_t size);
void memory_put_bytes(uint64_t address, const void *bytes, size_t size);
uint64_t memory_get(uint64_t address);
/* Room for an object; its address is a multiple of 8. */
uint64_t memory_take(size_t size);

/* Damages it 20,000 times, each third time by an address that lies in it, and
 * looks each time. It is made anew after each hundred. */
void memory_damage(void (*begin)(void), void (*end)(void),
		   void (*look)(unsigned round));

#endif
