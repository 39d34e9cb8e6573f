/* Runs a program that may not make memory executable, that is killed when it
 * makes a thread or has mapped its profile, or that has no mlock2:
 * deny seccomp|mdwe|threads|profile|mlock2 PROGRAM [ARG...]. 77 if the kernel
 * cannot. */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <errno.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

static int set_filter(struct sock_filter *code, size_t length)
{
	struct sock_fprog program = {(unsigned short)length, code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

static int deny_mlock2(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mlock2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return set_filter(code, sizeof(code) / sizeof(*code));
}

static int deny_threads(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return set_filter(code, sizeof(code) / sizeof(*code));
}

/* The first that is done with the memory of a profile is advice. */
static int deny_profile(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_RANDOM, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return set_filter(code, sizeof(code) / sizeof(*code));
}

/* mprotect with PROT_EXEC fails with EACCES. */
static int deny_by_seccomp(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return set_filter(code, sizeof(code) / sizeof(*code));
}

static int deny(const char *what)
{
	if (strcmp(what, "seccomp") == 0)
		return deny_by_seccomp();
	if (strcmp(what, "threads") == 0)
		return deny_threads();
	if (strcmp(what, "profile") == 0)
		return deny_profile();
	if (strcmp(what, "mlock2") == 0)
		return deny_mlock2();
	return prctl(PR_SET_MDWE, 1, 0, 0, 0);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (deny(argv[1]))
		return 77;
	execv(argv[2], argv + 2);
	return 127;
}
