#ifndef SWIZZLE_H
#define SWIZZLE_H

/* Requests of a program to the profiler that it runs under.
 *
 * Nothing has to be linked: the functions below look those of libswizzle.so up
 * by dlsym(), once, and do nothing where the program is not profiled. (With a
 * glibc before 2.34 that takes -ldl.) A program may also be linked with
 * -lswizzle; it is profiled only under swizzle-run all the same.
 *
 * All are thread safe. They are async-signal-safe, too, after the first call of
 * any of them in the same source file: that one calls dlsym().
 * docs/marks.md has examples.
 *
 * Programs in other languages call the functions of libswizzle.so by the same
 * names. It has __cyg_profile_func_enter and __cyg_profile_func_exit, too: a
 * program that was compiled with -finstrument-functions can be linked with
 * -lswizzle alone. Under the profiler they record the functions that are not
 * hooked, such as inlined ones. */

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* While a hooked function runs, its return slot holds the address of a return
 * thunk. Returns the real return address for the address of a thunk, of
 * whichever thread; any other address is returned as it is. Only in
 * libswizzle.so: to be looked up. */
uintptr_t swizzle_resolve_return_address(uintptr_t address);

/* For the location of a return address: where the real one is kept while a
 * thunk's is there, or the location itself. What is stored at the result takes
 * effect at the return. The form is that of V8's ReturnAddressLocationResolver
 * (v8-initialization.h). The location must be readable. Only in libswizzle.so.
 */
uintptr_t swizzle_resolve_return_location(uintptr_t location);

/* ------------------------------------------------- how they are looked up */

#define SWIZZLE_INLINE static inline __attribute__((always_inline, unused))

enum swizzle_call {
	SWIZZLE_MARK,
	SWIZZLE_BEGIN,
	SWIZZLE_END,
	SWIZZLE_PAUSE,
	SWIZZLE_RESUME,
	SWIZZLE_PAUSE_PROCESS,
	SWIZZLE_RESUME_PROCESS,
	SWIZZLE_CALLS
};

struct swizzle_calls {
	void *of[SWIZZLE_CALLS]; /* NULL: there is none */
	int known;
};

static struct swizzle_calls swizzle_calls __attribute__((unused));

/* (Two threads may do it at once, and find the same.) */
static __attribute__((noinline, unused)) void swizzle_look_up(void)
{
	static const char *const names[SWIZZLE_CALLS] = {
		"swizzle_mark",
		"swizzle_begin",
		"swizzle_end",
		"swizzle_pause",
		"swizzle_resume",
		"swizzle_pause_process",
		"swizzle_resume_process",
	};
	int i;

	for (i = 0; i < SWIZZLE_CALLS; i++)
		__atomic_store_n(&swizzle_calls.of[i],
				 dlsym((void *)0 /* RTLD_DEFAULT */, names[i]),
				 __ATOMIC_RELAXED);
	__atomic_store_n(&swizzle_calls.known, 1, __ATOMIC_RELEASE);
}

SWIZZLE_INLINE void *swizzle_find(enum swizzle_call which)
{
	if (!__atomic_load_n(&swizzle_calls.known, __ATOMIC_ACQUIRE))
		swizzle_look_up();
	return __atomic_load_n(&swizzle_calls.of[which], __ATOMIC_RELAXED);
}

/* (A function's address that an object pointer holds, as dlsym() has it.) */
SWIZZLE_INLINE void swizzle_call_with(enum swizzle_call which, const char *text)
{
	void *found = swizzle_find(which);
	void (*function)(const char *);

	__builtin_memcpy(&function, &found, sizeof(function));
	if (found)
		function(text);
}

SWIZZLE_INLINE void swizzle_call_plain(enum swizzle_call which)
{
	void *found = swizzle_find(which);
	void (*function)(void);

	__builtin_memcpy(&function, &found, sizeof(function));
	if (found)
		function();
}

/* ------------------------------------------------------- marks and spans */

/* True if the program is profiled. */
SWIZZLE_INLINE int swizzle_is_present(void)
{
	return swizzle_find(SWIZZLE_MARK) != NULL;
}

/* Marks this moment in the profile, of this thread. The text (UTF-8, copied) is
 * cut at 1024 bytes. A mark takes 16 bytes and its text. */
SWIZZLE_INLINE void swizzle_mark(const char *text)
{
	swizzle_call_with(SWIZZLE_MARK, text);
}

/* A span: what this thread does from here on is done in NAME, called from the
 * function that this is called in, until swizzle_end(). Spans nest with each
 * other and with functions. A span ends with the function that has begun it, at
 * the latest, however that is left; so both calls belong into one function, not
 * into functions of your own that are called for the purpose. There may be 1022
 * different names, of 128 bytes; all others are "[other spans]". */
SWIZZLE_INLINE void swizzle_begin(const char *name)
{
	swizzle_call_with(SWIZZLE_BEGIN, name);
}

/* Ends the latest span of the function that this is called in; nothing, if it
 * has none. */
SWIZZLE_INLINE void swizzle_end(void)
{
	swizzle_call_plain(SWIZZLE_END);
}

/* ----------------------------------------------------------------- pauses */

/* From here on this thread's calls are not recorded; a call then costs some
 * nanoseconds. The time until swizzle_resume() is shown as "[paused]", called
 * from what is running. What is open stays open, and may return meanwhile.
 * Marks and spans are recorded all the same. Pauses do not nest: the first
 * resume ends them. */
SWIZZLE_INLINE void swizzle_pause(void)
{
	swizzle_call_plain(SWIZZLE_PAUSE);
}

SWIZZLE_INLINE void swizzle_resume(void)
{
	swizzle_call_plain(SWIZZLE_RESUME);
}

/* The same of all threads, those to come and forked children, too. Each other
 * thread follows at its next call. A thread that has paused itself, too, goes
 * on when both are over. */
SWIZZLE_INLINE void swizzle_pause_process(void)
{
	swizzle_call_plain(SWIZZLE_PAUSE_PROCESS);
}

SWIZZLE_INLINE void swizzle_resume_process(void)
{
	swizzle_call_plain(SWIZZLE_RESUME_PROCESS);
}

#ifdef __cplusplus
} /* extern "C" */

namespace swizzle
{

/* A span for as long as the object lives. */
class span
{
      public:
	__attribute__((always_inline)) explicit span(const char *name)
	{
		swizzle_begin(name);
	}
	__attribute__((always_inline)) ~span()
	{
		swizzle_end();
	}

      private:
	span(const span &);
	span &operator=(const span &);
};

/* A pause of this thread, likewise. */
class pause
{
      public:
	__attribute__((always_inline)) pause()
	{
		swizzle_pause();
	}
	__attribute__((always_inline)) ~pause()
	{
		swizzle_resume();
	}

      private:
	pause(const pause &);
	pause &operator=(const pause &);
};

} /* namespace swizzle */
#endif

#endif
