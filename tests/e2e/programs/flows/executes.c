#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int ends[2];
	char block[8];

	if (argc < 2 || pipe(ends) || dup2(ends[1], 7) != 7)
		return 1;
	if (!fork()) {
		execl(argv[1], argv[1], NULL);
		_exit(1);
	}
	wait(NULL);
	if (write(7, "xx", 2) != 2)
		return 1;
	return read(ends[0], block, 1) != 1 || read(ends[0], block, 2) != 2;
}
