#ifndef SWZ_TESTS_EXECUTE_H
#define SWZ_TESTS_EXECUTE_H

/* Runs a piece of machine code on a register file that the test chooses, and
 * gives back what it made of it. A *room* is a mapping of code and data at a
 * chosen address, with places for the code to end at. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum execute_register {
	RAX,
	RCX,
	RDX,
	RBX,
	RSP,
	RBP,
	RSI,
	RDI,
	R8,
	R9,
	R10,
	R11,
	R12,
	R13,
	R14,
	R15,
	REGISTERS
};

enum {
	EXECUTE_VECTOR_BYTES = 2752 /* x87 to AVX-512, in XSAVE's layout */
};

struct machine_state {
	_Alignas(64) uint8_t vectors[EXECUTE_VECTOR_BYTES];
	uint64_t registers[REGISTERS];
	uint64_t flags;
};

/* The arithmetic flags and DF. */
#define EXECUTE_FLAGS UINT64_C(0xcd5)

enum {
	ROOM_CODE = 0x40,  /* offset of the code */
	ROOM_SHORT = 0x60, /* ends, counted from the code */
	ROOM_FAR = 0x200,
	ROOM_BACK = -0x40,
	ROOM_CALLEE = 0x300, /* notes its return address and returns */
	ROOM_DATA = 0x1000,
	ROOM_BYTES = 0x3000
};

struct room {
	uint8_t *base;
	uint8_t *code; /* base + ROOM_CODE */
	uint8_t *data; /* code + ROOM_DATA */
};

/* Maps a room at this address, which must be free. */
bool room_open(struct room *room, uint64_t base);
void room_close(struct room *room);

/* Puts the code into its place, and behind it, but not before offset
 * `at_least`, the place where it ends when it falls through. Fills the data
 * with numbers that depend on the seed. */
void room_furnish(struct room *room, const uint8_t *code, size_t size,
		  size_t at_least, uint64_t seed);

/* Runs the code at `entry` until it reaches one of the room's ends, and stores
 * there which: 0 fall-through, 1 short, 2 far, 3 back. Not reentrant. */
unsigned room_run(struct room *room, const void *entry,
		  struct machine_state *state);

/* How code ended that reached no end. */
struct execute_fault {
	int signal; /* 0: none */
	uint64_t at;
	uint64_t address; /* si_addr */
};

enum { ROOM_FAULT = 0xff }; /* what room_run_guarded returns then */

/* The same for code that may fault or never end: SIGSEGV, SIGBUS, SIGILL,
 * SIGFPE and SIGTRAP end it where they happen, and so does SIGVTALRM after one
 * or two tenths of a second of work. The state is that of the fault. */
extern const uint8_t *execute_watch; /* 24 bytes, printed if all goes wrong */
unsigned room_run_guarded(struct room *room, const void *entry,
			  struct machine_state *state,
			  struct execute_fault *fault);

#endif
