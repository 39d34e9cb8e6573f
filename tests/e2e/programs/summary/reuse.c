#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc > 1)
		return write(2, "precious\n", 9) != 9;
	if (open("data", O_WRONLY | O_CREAT | O_TRUNC, 0600) != 2)
		return 2;
	execl(argv[0], argv[0], "x", (char *)0);
	return 3;
}
