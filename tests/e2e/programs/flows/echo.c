/* echo 4|6: a server, and its child, which sends 30 messages by TCP and has each
 * sent back. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void be_client(struct sockaddr *address, socklen_t length)
{
	int s = socket(address->sa_family, SOCK_STREAM, 0);
	char bytes[100] = {0};

	if (connect(s, address, length) != 0)
		_exit(1);
	for (int i = 1; i <= 30; i++)
		if (send(s, bytes, i, 0) != i ||
		    recv(s, bytes, sizeof(bytes), 0) != i)
			_exit(1);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	int is_6 = argc > 1 && strcmp(argv[1], "6") == 0;
	struct sockaddr *address = is_6 ? (struct sockaddr *)&in6
					: (struct sockaddr *)&in;
	socklen_t length = is_6 ? sizeof(in6) : sizeof(in);
	int server = socket(address->sa_family, SOCK_STREAM, 0), s, status;
	char bytes[100];
	ssize_t n;

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in6.sin6_addr = in6addr_loopback;
	if (bind(server, address, length) != 0 || listen(server, 1) != 0 ||
	    getsockname(server, address, &length) != 0)
		return 1;
	if (!fork())
		be_client(address, length);
	s = accept(server, NULL, NULL);
	while ((n = recv(s, bytes, sizeof(bytes), 0)) > 0)
		if (send(s, bytes, n, 0) != n)
			return 1;
	wait(&status);
	return status != 0;
}
