#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int visit(long n, unsigned long slot, unsigned long elsewhere);
int visits(void)
{
	int sum = 0;
	for (long n = 0; n < 1000; n++)
		sum += visit(n, 0, 0);
	return sum;
}
int main(void)
{
	int sum = visits(), status;
	if (fork() == 0)
		_exit(visits() == sum && sum == 1250);
	wait(&status);
	printf("%d %d\n", sum, WEXITSTATUS(status));
	return 0;
}
