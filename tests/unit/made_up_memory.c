#include "tests/unit/made_up_memory.h"

#include <string.h>

static uint8_t memory[BYTES];
static uint64_t next_object;

void memory_begin(void)
{
	memset(memory, 0, sizeof(memory));
	next_object = OBJECTS;
}

size_t memory_read(void *context, uint64_t address, void *into, size_t size)
{
	(void)context;
	if (address - BASE >= BYTES)
		return 0;
	if (size > BASE + BYTES - address)
		size = BASE + BYTES - address;
	memcpy(into, memory + (address - BASE), size);
	return size;
}

uint64_t memory_symbol(void *symbols, const char *name)
{
	for (const struct memory_symbol *s = symbols; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return s->address;
	return 0;
}

void memory_put(uint64_t address, uint64_t value, size_t size)
{
	memory_put_bytes(address, &value, size);
}

void memory_put_bytes(uint64_t address, const void *bytes, size_t size)
{
	memcpy(memory + (address - BASE), bytes, size);
}

uint64_t memory_get(uint64_t address)
{
	uint64_t word;

	memcpy(&word, memory + (address - BASE), sizeof(word));
	return word;
}

uint64_t memory_take(size_t size)
{
	uint64_t at = next_object;

	next_object += (size + 7) & ~7ull;
	return at;
}

void memory_damage(void (*begin)(void), void (*end)(void),
		   void (*look)(unsigned round))
{
	uint64_t state = 5;

	for (unsigned i = 0; i < 20000; i++) {
		uint32_t at, what;

		state = state * 6364136223846793005u + 1442695040888963407u;
		at = (uint32_t)(state >> 33) % (BYTES - 8);
		what = (uint32_t)(state >> 20);
		if (i % 3 == 0)
			memory_put(BASE + (at & ~7u), BASE + what % BYTES, 8);
		else
			memory_put(BASE + at, what, 4);
		look(i);
		if (i % 100 == 99) {
			end();
			begin();
		}
	}
}
