#include "runtime/record/flow_functions.h"

#include <string.h>

/* clang-format off */
#define PLACE(n) (SWZ_PLACE_INTEGER + (n) - 1)
#define FD(n) \
	{{.kind = SWZ_PART_FILE, .place = PLACE(n), .bytes = 24}, \
	 SWZ_TYPE_FILE, false, "fd"}
#define WORD(n, label) \
	{{.place = PLACE(n), .bytes = 8}, SWZ_TYPE_HEX, false, label}
#define NUMBER(n, label) \
	{{.place = PLACE(n), .bytes = 4}, SWZ_TYPE_SIGNED, false, label}
#define WORD_AT(n, label) \
	{{.kind = SWZ_PART_MEMORY, .place = PLACE(n), .bytes = 8}, \
	 SWZ_TYPE_POINTER, false, label}
/* What argument N points at, once the call has returned. */
#define KEEP(n) \
	{{.kind = SWZ_PART_KEEP, .place = PLACE(n)}, SWZ_TYPE_POINTER, false, \
	 ""}
#define WORD_THERE(label) \
	{{.kind = SWZ_PART_MEMORY, .place = SWZ_PLACE_KEPT, .bytes = 8, \
	  .pointed = 1}, SWZ_TYPE_HEX, true, label}
#define NUMBER_THERE(label, at) \
	{{.kind = SWZ_PART_MEMORY, .place = SWZ_PLACE_KEPT, .bytes = 4, \
	  .offset = (at), .pointed = 1}, SWZ_TYPE_SIGNED, true, label}
#define FD_THERE(label, at) \
	{{.kind = SWZ_PART_FILE_AT, .place = SWZ_PLACE_KEPT, .bytes = 24, \
	  .offset = (at), .pointed = 1}, SWZ_TYPE_FILE, true, label}
#define NEW_FD \
	{{.kind = SWZ_PART_FILE, .place = SWZ_PLACE_RAX, .bytes = 24}, \
	 SWZ_TYPE_FILE, true, "result"}
#define RESULT \
	{{.place = SWZ_PLACE_RAX, .bytes = 4}, SWZ_TYPE_SIGNED, true, "result"}
#define BYTES \
	{{.place = SWZ_PLACE_RAX, .bytes = 8}, SWZ_TYPE_SIGNED, true, "result"}

#define ENDS FD_THERE("end0", 0), FD_THERE("end1", 4)
#define MUTEX WORD(1, "mutex")
#define COND WORD(1, "cond")
#define SEM WORD(1, "sem")
#define THREAD WORD(1, "thread")

const struct swz_flow_function swz_flow_functions[] = {
	/* threads */
	{"pthread_create", {WORD(3, "start"), KEEP(1), RESULT, WORD_THERE("thread")}},
	{"pthread_join", {THREAD, RESULT}},
	{"pthread_tryjoin_np", {THREAD, RESULT}},
	{"pthread_timedjoin_np", {THREAD, RESULT}},
	{"pthread_clockjoin_np", {THREAD, RESULT}},
	/* processes */
	{"fork", {KEEP(1), RESULT}},
	{"posix_spawn", {KEEP(1), RESULT, NUMBER_THERE("pid", 0)}},
	{"posix_spawnp", {KEEP(1), RESULT, NUMBER_THERE("pid", 0)}},
	{"wait4", {KEEP(1), RESULT}},
	{"waitid", {KEEP(3), RESULT, NUMBER_THERE("pid", 12)}},
	/* what data goes through */
	{"pipe", {KEEP(1), RESULT, ENDS}},
	{"pipe2", {KEEP(1), RESULT, ENDS}},
	{"socketpair", {NUMBER(2, "type"), KEEP(4), RESULT, ENDS}},
	{"accept", {FD(1), NEW_FD}},
	{"accept4", {FD(1), NEW_FD}},
	{"connect", {FD(1), RESULT}},
	/* data */
	{"read", {FD(1), BYTES}},
	{"readv", {FD(1), BYTES}},
	{"recv", {FD(1), NUMBER(4, "flags"), BYTES}},
	{"recvfrom", {FD(1), NUMBER(4, "flags"), BYTES}},
	{"recvmsg", {FD(1), NUMBER(3, "flags"), BYTES}},
	{"recvmmsg", {FD(1), BYTES}},
	{"write", {FD(1), BYTES}},
	{"writev", {FD(1), BYTES}},
	{"send", {FD(1), NUMBER(4, "flags"), BYTES}},
	{"sendto", {FD(1), NUMBER(4, "flags"), BYTES}},
	{"sendmsg", {FD(1), NUMBER(3, "flags"), BYTES}},
	{"sendmmsg", {FD(1), BYTES}},
	{"sendfile", {FD(1), BYTES}},
	{"sendfile64", {FD(1), BYTES}},
	{"splice", {FD(1), FD(3), BYTES}},
	{"tee", {FD(1), FD(2), BYTES}},
	{"vmsplice", {FD(1), BYTES}},
	/* locks */
	{"pthread_mutex_lock", {MUTEX, RESULT}},
	{"pthread_mutex_trylock", {MUTEX, RESULT}},
	{"pthread_mutex_timedlock", {MUTEX, RESULT}},
	{"pthread_mutex_clocklock", {MUTEX, RESULT}},
	{"pthread_mutex_unlock", {MUTEX, RESULT}},
	{"pthread_mutexattr_setpshared", {NUMBER(2, "shared")}},
	{"pthread_cond_wait", {COND, WORD(2, "mutex"), RESULT}},
	{"pthread_cond_timedwait", {COND, WORD(2, "mutex"), RESULT}},
	{"pthread_cond_clockwait", {COND, WORD(2, "mutex"), RESULT}},
	{"pthread_cond_signal", {COND, RESULT}},
	{"pthread_cond_broadcast", {COND, RESULT}},
	{"pthread_condattr_setpshared", {NUMBER(2, "shared")}},
	{"sem_init", {SEM, NUMBER(2, "shared"), NUMBER(3, "value"), RESULT}},
	{"sem_post", {SEM, RESULT}},
	{"sem_wait", {SEM, RESULT}},
	{"sem_timedwait", {SEM, RESULT}},
	{"sem_clockwait", {SEM, RESULT}},
	{"sem_trywait", {SEM, RESULT}},
	/* signals */
	{"sigaction", {NUMBER(1, "signal"), WORD_AT(2, "handler"), RESULT}},
	{"kill", {NUMBER(1, "pid"), NUMBER(2, "signal"), RESULT}},
	{"tgkill", {NUMBER(2, "tid"), NUMBER(3, "signal"), RESULT}},
	{"sigqueue", {NUMBER(1, "pid"), NUMBER(2, "signal"), RESULT}},
	{"pthread_kill", {THREAD, NUMBER(2, "signal"), RESULT}},
	{"pthread_sigqueue", {THREAD, NUMBER(2, "signal"), RESULT}},
};
/* clang-format on */

const uint32_t swz_flow_function_count = sizeof(swz_flow_functions) /
					 sizeof(swz_flow_functions[0]);

int swz_flow_function_find(const char *name)
{
	for (uint32_t i = 0; i < swz_flow_function_count; i++)
		if (strcmp(swz_flow_functions[i].name, name) == 0)
			return (int)i;
	return -1;
}
