#ifndef SWZ_CONTROL_TARGET_H
#define SWZ_CONTROL_TARGET_H

/* A process that is changed from outside: its memory, its threads while they
 * are stopped, and calls that one of these makes for us. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "base/control.h"

/* --- the process ---------------------------------------------------------- */

/* Its memory, what is mapped there, and where functions of its libraries are.
 * Nothing of it is trusted. */

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

/* --- stopped threads ----------------------------------------------------- */

/* Threads of another process, stopped and let go, and the system calls that a
 * stop cuts short. */

/* System calls that a stop has cut short: each goes on as if there had been no
 * stop. docs/internals/blocking-calls.md lists them. */

/* A thread that slept in a call with a time limit, before it was stopped. */
struct swz_sleeper {
	int32_t tid;
	uint64_t turns;    /* how often it had got a processor */
	uint64_t since_ns; /* when it ran last */
};

struct swz_sleepers {
	struct swz_sleeper *list;
	size_t count, capacity;
};

/* Before the stop: notes the threads of a process that sleep so. */
void swz_sleepers_note(struct swz_sleepers *sleepers, int32_t pid);
void swz_sleepers_note_one(struct swz_sleepers *sleepers, int32_t pid,
			   int32_t tid);
void swz_sleepers_free(struct swz_sleepers *sleepers);

/* A thread that has stopped. */
struct swz_cut_call {
	int32_t pid, tid;
	/* Addresses of code to resume calls (src/base/resume_call.h), the
	 * first for those to come; 0: none. */
	uint64_t code[2];
	/* The caller puts it there, if it is needed, before the thread goes. */
	bool code_is_to_come;
	const struct swz_sleepers *sleepers; /* or NULL */
};

/* That code: RESUME_BYTES of it (stub.S). A call is led to no other. */
extern const uint8_t swz_stub_resume[];

/* True if the thread must get other registers (*AGAIN), so that its call goes
 * on. The data for that has been written to its stack. The kernel finds the
 * call interrupted, and makes it again when it lets the thread go. If a
 * signal's handler is to run then, the call ends as it does without a stop:
 * with EINTR, or the part that is done. */
bool swz_call_resume(const struct swz_cut_call *call,
		     const struct user_regs_struct *registers,
		     struct user_regs_struct *again);

/* The thread's own registers, where it is in that code. */
struct user_regs_struct swz_call_origin(
	const struct swz_cut_call *call,
	const struct user_regs_struct *registers);

/* Threads of another process, stopped and let go. They are seized for that
 * (ptrace), and should this process be killed the kernel lets them go. */

struct swz_stopped {
	int32_t tid;
	int32_t signal; /* to be delivered when it goes on; 0: none */
	bool asked;     /* to stop */
	bool stopped;
	bool held; /* by job control */
	struct user_regs_struct registers;
	/* With these its call goes on. It has got them as soon as it had
	 * stopped: who is killed then leaves it right. */
	struct user_regs_struct again;
	bool resumes; /* they differ */
	bool changed; /* registers are to be written back */
	bool astray;  /* it stands where it must not: see swz_stop_move */
	bool moved;   /* it has run since the stop began */
};

/* After that all are let go, rather than held until the last one stops. */
#define SWZ_STOP_MOST_NS 50000000u

struct swz_stop {
	int32_t pid, except;
	bool alone; /* one is to stop; the others are bystanders */
	struct swz_stopped *threads;
	size_t count, capacity;
	struct swz_sleepers sleepers;
	uint64_t code[2]; /* to resume calls: see struct swz_cut_call */
	uint64_t most_ns; /* how long it may take; 0: SWZ_STOP_MOST_NS */
	uint64_t until_ns;
	uint64_t began_ns;   /* when the first was asked to stop */
	uint64_t stopped_ns; /* when the last one had stopped */
	uint64_t lasted_ns;  /* of the latest one, also where it has failed */
};

enum swz_stop_result {
	SWZ_STOP_DONE,
	SWZ_STOP_ENDED,  /* there is no such process any more */
	SWZ_STOP_TRACED, /* a debugger has a thread of it */
	SWZ_STOP_DENIED, /* ptrace is not permitted */
	SWZ_STOP_HELD,   /* stopped by job control (SIGSTOP) */
	SWZ_STOP_LATE    /* a thread did not stop in time */
};

/* Does WORK, which is one stop, on a thread of its own that traces. When that
 * thread ends the kernel lets all that it has stopped go at one moment: a
 * signal that is ignored, which a traced thread keeps pending, never wakes one
 * that has been let go already. What WORK does after swz_stop_end makes the
 * stop longer. Returns when all have been let go, but for those that do not
 * stop in time. */
void swz_stop_session(void (*work)(void *context), void *context);

/* Stops all threads but EXCEPT (0: none), those that are created meanwhile
 * too. Unless it is done, all have been let go. (->code is the caller's.) */
enum swz_stop_result swz_stop_all(struct swz_stop *stop, int32_t pid,
				  int32_t except);

/* Stops one. While one stands for which signals come (swz_stop_gets_signals),
 * another may be woken for those. */
enum swz_stop_result swz_stop_one(struct swz_stop *stop, int32_t pid,
				  int32_t tid);

/* True if this thread gets the signals of its process as a whole, or of its
 * children. */
bool swz_stop_gets_signals(int32_t pid, int32_t tid);

/* Lets the threads that are marked as astray run for a moment, while all others
 * stand, and stops them again. False: it is no use, so all have to be let go
 * for a while: there is a signal for one, or it waits, or it would take too
 * long. */
bool swz_stop_move(struct swz_stop *stop);

/* Writes registers back that were changed, and lets all go (in a session: at
 * its end). What the stop has cut short goes on. Returns how long they were
 * stopped, in ns. */
uint64_t swz_stop_end(struct swz_stop *stop);

/* Why it is not done, for people. */
const char *swz_stop_problem(enum swz_stop_result result);

/* The thread as what its call was cut short. */
struct swz_cut_call swz_stop_cut(const struct swz_stop *stop,
				 const struct swz_stopped *thread);

/* Its own registers: see swz_call_origin. */
struct user_regs_struct swz_stop_origin(const struct swz_stop *stop,
					const struct swz_stopped *thread);
void swz_stop_free(struct swz_stop *stop);

/* --- borrowed threads ---------------------------------------------------- */

/* The stubs: see stub.S. */

extern const uint8_t swz_stub_call[], swz_stub_call_end[];
/* (swz_stub_resume lies between them) */

/* Calls in the target, on one of its own threads that is borrowed for a moment.
 * The thread finds its way back by itself: once it has been let go, whether the
 * controller lives makes no difference to it. What it waited for it waits for
 * again, and sees no EINTR. */

struct swz_borrower {
	struct swz_target *target;
	struct swz_safe_places *places; /* made when they are needed */
	uint64_t gap;     /* in some code, where nothing is: swz_stub_call */
	uint64_t region;  /* memory of ours in the target */
	uint64_t code[2]; /* to resume calls (struct swz_cut_call): the
			   * library's; in the gap */
	uint64_t errno_place;
	int32_t agent; /* the library's own thread, which is not borrowed: it
			* has no state of libc's. 0: there is none */
	uint64_t heartbeat;  /* where in the target to say that we are there,
			      * while a thread is waited for; 0: nowhere */
	uint64_t stopped_ns; /* the longest stop of a thread, lately */
	uint64_t longest_ns; /* ... of all */
	const char *problem; /* of the latest call that failed */
};

#define SWZ_REGION_BYTES (UINT64_C(768) << 10)
/* Free for the caller, in the region. */
#define SWZ_REGION_TEXTS (UINT64_C(32) << 10)
#define SWZ_REGION_TEXTS_END (UINT64_C(256) << 10)

/* Finds places and maps the region; with REGION not 0: that of an earlier
 * attach. False: *problem says why. */
bool swz_borrow_begin(struct swz_borrower *borrower, uint64_t region);

/* A gap in the target's code, of which the mappings have been read, in the LAST
 * one that has any or else the first; 0: there is none. Attaching takes the
 * first. The sampler takes the last: it knows no region from which a borrowed
 * thread returns to the gap, and so must not take that one away. */
uint64_t swz_borrow_find_gap(const struct swz_target *target, bool last);
/* Puts swz_stub_call there, unless it is there. False: there is something else.
 */
bool swz_borrow_fill_gap(const struct swz_target *target, uint64_t gap);

/* Address of swz_stub_resume in the gap. */
uint64_t swz_borrow_resume(const struct swz_borrower *borrower);

/* Calls a function with up to four arguments. SAFE: on a thread that is nowhere
 * near the dynamic linker, malloc or a signal handler. False: there was none,
 * or it has not come back; *problem says so. */
bool swz_borrow_call(struct swz_borrower *borrower, uint64_t function,
		     const uint64_t arguments[4], bool safe, uint64_t *result);
void swz_borrow_end(struct swz_borrower *borrower);

/* Unmaps the region: nobody but us knows it. Nothing is done where a thread is
 * in it, or none can be borrowed. */
void swz_borrow_unmap(struct swz_borrower *borrower);

/* While all threads are stopped: takes back what was written into the gap.
 * False: one of them was led there, and has not come back. */
bool swz_borrow_close_gap(const struct swz_borrower *borrower,
			  const struct swz_stop *stop);

/* --- bytes that change --------------------------------------------------- */

/* Patching and unpatching code of a process of which all threads are stopped.
 *
 *	swz_sites_read(&sites, &target, &control);
 *	swz_sites_copy_pages(&sites);		while it runs
 *	swz_stop_all(&stop, ...);
 *	swz_sites_are_free(&sites, &stop, false);
 *	swz_sites_write(&sites, &place, until_ns);	... and go on later
 *	swz_stop_end(&stop);
 *
 * Each page is written at once, in the order of the sites' phases. So threads
 * may run on in between, and who is killed leaves a process that runs right:
 * with some functions patched. Doing the same again, or undoing it, makes it
 * whole. */

struct swz_sites {
	const struct swz_target *target;
	struct swz_control_site *list; /* sorted by address */
	uint32_t *places;              /* where in the target's table each is */
	size_t count;
	uint64_t table;   /* the target's */
	uint64_t changes; /* of that, when it was read */
	size_t skipped;   /* functions in which a thread stood */
};

/* How far the sites are written, or restored. */
struct swz_sites_place {
	unsigned step; /* phases that are done */
	size_t index;  /* in the list, of the next one */
};

/* False: there is no memory of the target where they should be. */
bool swz_sites_read(struct swz_sites *sites, const struct swz_target *target,
		    const struct swz_control *control);
void swz_sites_free(struct swz_sites *sites);

/* Writes the bytes that are there: the kernel makes the process's own copies of
 * the pages, which takes most of the time of patching. */
void swz_sites_copy_pages(const struct swz_sites *sites);

/* True if no thread stands within a site, or will come back there from a
 * signal's handler. Marks those that do (swz_stop_move). With SKIP it leaves
 * such functions out and returns true. */
bool swz_sites_are_free(struct swz_sites *sites, struct swz_stop *stop,
			bool skip);

/* Before sites are restored: leads threads that stand at the beginning of an
 * island on to where it leads. */
void swz_sites_leave_islands(const struct swz_sites *sites,
			     struct swz_stop *stop);

/* Writes what is to be there, from *PLACE on (at first zeros), until the clock
 * says UNTIL_NS; what belongs to the dynamic linker in any case. False: memory
 * could not be written. */
bool swz_sites_write(const struct swz_sites *sites,
		     struct swz_sites_place *place, uint64_t until_ns);
bool swz_sites_are_written(const struct swz_sites_place *place);

/* Writes what was there before, where nobody else has written, of the sites at
 * functions' beginnings. Threads run on with the others as long as a frame may
 * be hooked: what a function reads of its own return address, inner sites have
 * made right. */
bool swz_sites_restore(const struct swz_sites *sites,
		       struct swz_sites_place *place, uint64_t until_ns);
bool swz_sites_are_restored(const struct swz_sites_place *place);

/* While it runs: leaves in the list what swz_sites_restore leaves, and what has
 * been patched since. */
void swz_sites_keep_written(struct swz_sites *sites);

/* Takes what stays while recording is stopped out of the list. */
void swz_sites_leave_what_stays(struct swz_sites *sites);

/* Before they are written again: what was left out the last time is not, but
 * for functions that hold a call and have been restored. */
void swz_sites_skip_again(struct swz_sites *sites);

/* How many functions are left out. */
size_t swz_sites_left_out(const struct swz_sites *sites);

/* Restores all that is in the list. */
bool swz_sites_restore_rest(const struct swz_sites *sites);

#endif
