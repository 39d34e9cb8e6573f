#ifndef SWZ_WATCH_NAMES_SCRIPT_LANGUAGE_H
#define SWZ_WATCH_NAMES_SCRIPT_LANGUAGE_H

/* The interface of each interpreter's file: how it is recognised in a module,
 * and how the frames of a thread are read from its memory. Nothing that is read
 * is trusted: objects are known by their types, and walks have an end. */

#include "watch/names/script_codes.h"

/* A module that may hold an interpreter, in a process or just a file. */
struct swz_script_module {
	/* The address of a symbol that it defines; 0: it does not. */
	uint64_t (*symbol)(void *module, const char *name);
	void *module;
	swz_script_read *read; /* of the process, or the file */
	void *memory;
};

struct swz_script_thread {
	/* %fs, or 0: the thread is then told by its number or by its
	 * stack. */
	uint64_t thread_pointer;
	uint64_t stack_start; /* its stack pointer */
	int32_t pid, tid;
	/* The register in which a loop keeps the instruction that it
	 * executes, if it keeps that in one (%r15); or 0: not known. Functions
	 * that the loop has called may have changed it. */
	uint64_t loop_register;
	/* All of them, where the thread stands. */
	const uint64_t *registers;
	size_t register_count;
	uint64_t pc; /* the same; 0: not known */
};

/* A frame of the machine in code that was made at run time. */
struct swz_script_place {
	uint64_t pc; /* within what it executes */
	uint64_t frame_pointer;
	bool is_innermost;
	/* %r13 of the innermost frame; otherwise 0. */
	uint64_t innermost_register;
	/* All registers, if the thread stands in this frame, or in code that
	 * runs on it; otherwise NULL. */
	const uint64_t *registers;
	/* Reads the thread's stack as it was. */
	bool (*load)(const void *stack, uint64_t address, uint64_t *word);
	const void *stack;
};

/* How to get from such a frame to its caller's. */
enum swz_script_leave {
	SWZ_LEAVE_UNKNOWN, /* as where nothing is known: by %rbp */
	/* The return address is below %rsp + size. */
	SWZ_LEAVE_BY_SIZE,
	/* The same; the caller's %rbp is below that. */
	SWZ_LEAVE_BY_SIZE_WITH_RBP,
	/* By %rbp; the caller's %rsp is saved one word below it. */
	SWZ_LEAVE_BY_RBP
};

/* Each language's own structure begins with it. */
struct swz_script_reader {
	const struct swz_script_language *language;
	swz_script_read *read;
	void *memory;
	/* Counts the stacks: what was read for one holds until the next. */
	uint64_t stacks;
	/* The function whose calls each run a group of frames. */
	uint64_t loop;
	/* An address in the function that the loop is in, if that is another
	 * one, which is called by it; 0: not known so far, or there is none. */
	uint64_t inner_loop;
	/* Where the stack of the last thread begins for those who unwind it, if
	 * the loop has put something below that it does not tell of; or 0. */
	uint64_t sp;
};

struct swz_script_language {
	const char *name;
	/* A program is the interpreter if it holds it, or if it is called so
	 * and needs a library that is. */
	const char *program;
	const char *libraries[8];
	/* Many programs hold it for what they seldom do. */
	bool is_often_embedded;
	/* A frame is made before the loop is called for it. */
	bool is_frame_first;
	/* Code that is made at run time runs in place of the loop. */
	bool runs_made_code;
	/* Returns NULL if the module holds no interpreter of this language, or
	 * one of a version that is not known. */
	struct swz_script_reader *(*open)(
		const struct swz_script_module *module);
	/* The frames of a thread that stands still, the innermost first, at
	 * most MOST. Their codes live until close. NULL: its frames are the
	 * machine's. */
	enum swz_script_result (*frames)(struct swz_script_reader *reader,
					 const struct swz_script_thread *thread,
					 struct swz_script_frame *frames,
					 size_t most, size_t *count);
	/* Where they are: writes the functions that run in such a frame, the
	 * innermost first, at most SWZ_MOST_INLINED, and returns how many; 0:
	 * it is none of a script. */
	size_t (*functions)(struct swz_script_reader *reader,
			    const struct swz_script_place *place,
			    struct swz_script_frame *frames);
	/* Functions have %rbp frames, and code that runs on a function's frame
	 * is a part of it. */
	bool shares_frames;
	/* NULL: such frames are left by %rbp. SP: what %rsp is there. Sets
	 * *size. */
	enum swz_script_leave (*leave)(struct swz_script_reader *reader,
				       uint64_t pc, uint64_t sp,
				       bool is_innermost, uint32_t *size);
	/* True if PC is in code of the interpreter's own that functions call:
	 * its time is theirs. */
	bool (*is_helper)(struct swz_script_reader *reader, uint64_t pc);
	void (*close)(struct swz_script_reader *reader);
};

/* Functions that a compiler has put into one. */
#define SWZ_MOST_INLINED 32u

extern const struct swz_script_language swz_python_language;
extern const struct swz_script_language swz_ruby_language;
extern const struct swz_script_language swz_php_language;
extern const struct swz_script_language swz_perl_language;
extern const struct swz_script_language swz_node_language;
extern const struct swz_script_language swz_java_language;
extern const struct swz_script_language swz_lua_language;
extern const struct swz_script_language swz_luajit_language;

#endif
