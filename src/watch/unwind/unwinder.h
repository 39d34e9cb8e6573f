#ifndef SWZ_WATCH_UNWIND_UNWINDER_H
#define SWZ_WATCH_UNWIND_UNWINDER_H

/* Walks the stack of a thread of another process: from its registers, a copy
 * of the upper part of its stack and the list of what is mapped there. Nothing
 * is trusted: neither the files nor the stack nor the registers.
 *
 * An unwinder stands for one address space. What is known about a file is
 * shared by all unwinders of the program, so all of them belong to one thread
 * at a time. Errors of the files are not reported: frames in a file that cannot
 * be read are walked by %rbp, as frames are that no unwind entry describes. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct swz_unwinder;

/* The general registers by their DWARF numbers (SysV ABI, table 3.36). */
enum swz_register {
	SWZ_AX,
	SWZ_DX,
	SWZ_CX,
	SWZ_BX,
	SWZ_SI,
	SWZ_DI,
	SWZ_BP,
	SWZ_SP,
	SWZ_R8,
	SWZ_R9,
	SWZ_R10,
	SWZ_R11,
	SWZ_R12,
	SWZ_R13,
	SWZ_R14,
	SWZ_R15,
	SWZ_REGISTERS
};

/* A thread's registers where it was stopped. */
struct swz_registers {
	uint64_t ip;
	union {
		uint64_t general[SWZ_REGISTERS];
		struct {
			uint64_t ax, dx, cx, bx, si, di, bp, sp;
			uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
		};
	};
};

/* How a walk ended. */
enum swz_walk_end {
	SWZ_WALK_ROOT, /* the outermost frame was reached */
	SWZ_WALK_CUT,  /* the copy of the stack ended */
	SWZ_WALK_LOST, /* no rule explains a frame */
	SWZ_WALK_FULL  /* there are more frames than were asked for */
};

/* The stack as it was with those registers. */
struct swz_stack {
	uint64_t start; /* the address of bytes[0]: rsp */
	const uint8_t *bytes;
	size_t size;
	/* Reads what is not in the copy; false: cannot be read. NULL: there is
	 * no way to read it. Where the process goes on while its stack is
	 * walked, only what does not change may be given, such as code. */
	bool (*read)(void *context, uint64_t address, void *into, size_t size);
	void *context;
	/* Bytes from there on may have changed since: a return address must
	 * follow a call, or the walk is cut. 0: nothing may. */
	uint64_t unsure_from;
};

struct swz_unwinder *swz_unwinder_create(void);
void swz_unwinder_destroy(struct swz_unwinder *unwinder);

/* A process of its own with the same mappings: a child after fork. */
struct swz_unwinder *swz_unwinder_fork(const struct swz_unwinder *unwinder);

/* A mapping, as PERF_RECORD_MMAP2 or /proc/PID/maps tell it. */
struct swz_unwinder_mapping {
	/* The path is as this process names it, whose root may be another one;
	 * 0: as the caller does. */
	int32_t pid;
	uint64_t start, end;
	uint64_t offset; /* of its first byte in the file */
	/* "[vdso]"; "", "//anon" or another that does not begin with just one
	 * slash: memory without a file. */
	const char *path;
	uint64_t inode; /* 0: not known. A file that has another is not it. */
};

/* It takes the place of what was mapped there. All executable mappings are
 * needed: a return address that leads to none of them is none. Nothing is
 * opened before a stack leads there. */
void swz_unwinder_map(struct swz_unwinder *unwinder,
		      const struct swz_unwinder_mapping *mapping);

/* Nothing is mapped there any more. */
void swz_unwinder_unmap(struct swz_unwinder *unwinder, uint64_t start,
			uint64_t end);

/* Nothing is mapped at all: exec. */
void swz_unwinder_clear(struct swz_unwinder *unwinder);

/* Asks RESOLVE, if it is not NULL, about each return address that leads to
 * memory without a file. It returns where the call really returns to, or 0 if
 * that is the address itself. For programs whose return addresses were replaced
 * while they are profiled exactly. */
void swz_unwinder_resolve(struct swz_unwinder *unwinder,
			  uint64_t (*resolve)(void *context,
					      uint64_t return_address),
			  void *context);

/* Asks DESCRIBE how to leave a frame in memory without a file: it sets *row,
 * and returns true, if it knows. IS_INNERMOST: PC is yet to be executed, in a
 * frame that may be incomplete. */
struct swz_unwind_row;
void swz_unwinder_describe(struct swz_unwinder *unwinder,
			   bool (*describe)(void *context, uint64_t pc,
					    uint64_t sp, bool is_innermost,
					    struct swz_unwind_row *row),
			   void *context);

/* Walks a stack. pcs[0] becomes the instruction pointer, then come return
 * addresses, outermost last. Returns how many there are, at most MOST (at
 * least 1), and says how the walk ended. The instruction behind a call may be
 * another function's, so look up pc - 1 for all but pcs[0]. That goes for what
 * a signal interrupted, too, and for functions whose first byte was put on the
 * stack by hand: their address is given increased by 1.
 * The frame of the signal itself, which returns from the handler, is given. */
size_t swz_unwinder_walk(struct swz_unwinder *unwinder,
			 const struct swz_registers *registers,
			 const struct swz_stack *stack, uint64_t *pcs,
			 size_t most, enum swz_walk_end *end);

/* %rbp is not known, or 0. */
#define SWZ_NO_FRAME_POINTER 1u

/* The same. Sets frame_pointers[i] to what %rbp holds where pcs[i] is in code
 * that has no unwind information, as what is made at run time; otherwise to 0.
 */
size_t swz_unwinder_walk_frames(struct swz_unwinder *unwinder,
				const struct swz_registers *registers,
				const struct swz_stack *stack, uint64_t *pcs,
				uint64_t *frame_pointers, size_t most,
				enum swz_walk_end *end);

#endif
