/* build: -O1 */
/* Executes a program for which the kernel refuses perf_event_open, as in most
 * containers; after "both", process_vm_readv, too, after "ptrace" that one:
 * "refused perf|both|ptrace PROGRAM [ARG]...". */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSE(number) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned other = strcmp(what, "both") == 0     ? SYS_process_vm_readv
			 : strcmp(what, "ptrace") == 0 ? SYS_ptrace
						       : SYS_perf_event_open;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		REFUSE(SYS_perf_event_open),
		REFUSE(other),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(*code), code};

	if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		return 77;
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
