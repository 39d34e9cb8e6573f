// build: -O1 -g -pthread
/* Work that one thread does for another: job() for submit() on a pool of
 * threads, answer() for ask() in a process behind a pair of pipes, handle() for
 * request() at a server behind a socket, which asks the pool in its turn with
 * "chain". Each is done ROUNDS times. */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 20
#define KEEP __attribute__((noinline, noclone))

static volatile unsigned sink;

KEEP static void spin(int n)
{
	for (int i = 0; i < n * 1000; i++)
		sink += (unsigned)i;
}

/* ----------------------------------------------------------------- a pool */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;
static int queued, done, idle, is_over;

KEEP static void job(void)
{
	spin(20);
}

KEEP static int take(void)
{
	int goes_on;

	pthread_mutex_lock(&lock);
	while (!queued && !is_over) {
		idle = 1;
		pthread_cond_wait(&filled, &lock);
	}
	idle = 0;
	goes_on = queued;
	queued = 0;
	pthread_mutex_unlock(&lock);
	return goes_on;
}

KEEP static void tell(void)
{
	pthread_mutex_lock(&lock);
	done = 1;
	pthread_cond_signal(&emptied);
	pthread_mutex_unlock(&lock);
}

KEEP static void *works(void *argument)
{
	while (take()) {
		job();
		tell();
	}
	return argument;
}

/* The worker waits: so each job has a signal. */
KEEP static void until_idle(void)
{
	pthread_mutex_lock(&lock);
	while (!idle) {
		pthread_mutex_unlock(&lock);
		usleep(200);
		pthread_mutex_lock(&lock);
	}
}

KEEP static void submit(void)
{
	until_idle();
	queued = 1;
	done = 0;
	pthread_cond_signal(&filled);
	while (!done)
		pthread_cond_wait(&emptied, &lock);
	pthread_mutex_unlock(&lock);
}

KEEP static pthread_t start(void)
{
	pthread_t worker;

	pthread_create(&worker, NULL, works, NULL);
	return worker;
}

KEEP static void stop(pthread_t worker)
{
	until_idle();
	is_over = 1;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&lock);
	pthread_join(worker, NULL);
}

KEEP static void pool(void)
{
	pthread_t worker = start();

	for (int i = 0; i < ROUNDS; i++)
		submit();
	stop(worker);
}

/* ------------------------------------------------------------------ pipes */

KEEP static void answer(void)
{
	spin(20);
}

KEEP static void serve(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1) {
		answer();
		if (write(to, &byte, 1) != 1)
			exit(1);
	}
}

KEEP static void ask(int to, int from)
{
	char byte = 'q';

	if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
		exit(1);
}

KEEP static void pipes(void)
{
	int there[2], back[2];
	pid_t child;

	if (pipe(there) || pipe(back))
		exit(1);
	fflush(stdout);
	child = fork();
	if (!child) {
		close(there[1]);
		serve(there[0], back[1]);
		exit(0);
	}
	close(there[0]);
	for (int i = 0; i < ROUNDS; i++)
		ask(there[1], back[0]);
	close(there[1]);
	waitpid(child, NULL, 0);
}

/* ----------------------------------------------------------------- socket */

static int asks_pool;

KEEP static void handle(void)
{
	spin(20);
	if (asks_pool)
		submit();
}

KEEP static void *serves(void *argument)
{
	int listener = *(int *)argument, peer = accept(listener, NULL, NULL);
	char byte;

	while (recv(peer, &byte, 1, 0) == 1) {
		handle();
		if (send(peer, &byte, 1, 0) != 1)
			exit(1);
	}
	close(peer);
	return argument;
}

KEEP static void request(int peer)
{
	char byte = 'q';

	if (send(peer, &byte, 1, 0) != 1 || recv(peer, &byte, 1, 0) != 1)
		exit(1);
}

KEEP static void sockets(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int peer = socket(AF_INET, SOCK_STREAM, 0);
	pthread_t server;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&address, size) ||
	    listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &size))
		exit(1);
	pthread_create(&server, NULL, serves, &listener);
	if (connect(peer, (struct sockaddr *)&address, size))
		exit(1);
	for (int i = 0; i < ROUNDS; i++)
		request(peer);
	close(peer);
	pthread_join(server, NULL);
}

KEEP static void chain(void)
{
	pthread_t worker = start();

	asks_pool = 1;
	sockets();
	stop(worker);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "pool";

	if (strcmp(what, "pool") == 0)
		pool();
	else if (strcmp(what, "pipes") == 0)
		pipes();
	else if (strcmp(what, "sockets") == 0)
		sockets();
	else
		chain();
	return 0;
}
