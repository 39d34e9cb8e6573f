#include <sys/wait.h>
#include <unistd.h>
__attribute__((noipa)) int leaf(int n) { return n * 3 + 1; }
int main(int argc, char **argv)
{
	leaf(argc);
	while (access(argv[1], F_OK))
		usleep(1000);
	pid_t child = fork();
	if (!child) {
		leaf(argc);
		_exit(5);
	}
	return waitpid(child, NULL, 0) != child;
}
