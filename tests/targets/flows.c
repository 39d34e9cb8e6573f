// build: -O1 -pthread
// What wakes what: each part prints the causes and effects that it has had, in
// their order: "cause > effect", of calls of libc and of threads and processes.

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 20
#define KEEP __attribute__((noinline, noclone))

extern char **environ;

static void pause_a_bit(void)
{
	usleep(2000);
}

/* ------------------------------------------------------------- threads */

static void *runs(void *argument)
{
	pause_a_bit();
	return argument;
}

KEEP static void threads(void)
{
	pthread_t thread[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, runs, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	printf("pthread_create > thread 3\n");
	printf("thread > pthread_join 3\n");
}

/* ------------------------------------------------- a producer, a consumer */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t taken = PTHREAD_COND_INITIALIZER;
static int items;
static int consumer_waits, producer_waits;

/* One waits at a time, so each wait has one signal. */
static void *consumes(void *argument)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		while (!items) {
			consumer_waits++;
			pthread_cond_wait(&filled, &lock);
		}
		items--;
		pthread_cond_signal(&taken);
		pthread_mutex_unlock(&lock);
	}
	return argument;
}

KEEP static void conditions(void)
{
	pthread_t consumer;

	pthread_create(&consumer, NULL, consumes, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		while (items) {
			producer_waits++;
			pthread_cond_wait(&taken, &lock);
		}
		items++;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&lock);
	}
	pthread_join(consumer, NULL);
	printf("pthread_create > thread 1\n");
	printf("thread > pthread_join 1\n");
	printf("pthread_cond_signal > pthread_cond_wait %d\n",
	       consumer_waits + producer_waits);
}

/* --------------------------------------------------- locks, semaphores */

static sem_t ready;

static void *waits_for_lock(void *argument)
{
	sem_post(&ready);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return argument;
}

/* The main thread waits for the semaphore or not, the other for the lock. */
KEEP static void locks(void)
{
	pthread_t thread;

	sem_init(&ready, 0, 0);
	pthread_mutex_lock(&lock);
	pthread_create(&thread, NULL, waits_for_lock, NULL);
	usleep(100000);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	sem_wait(&ready);
	printf("pthread_create > thread 1\n");
	printf("thread > pthread_join 1\n");
	printf("pthread_mutex_unlock > pthread_mutex_lock 1\n");
}

static void *posts(void *argument)
{
	usleep(50000);
	sem_post(&ready);
	return argument;
}

KEEP static void semaphores(void)
{
	pthread_t thread;

	sem_init(&ready, 0, 1);
	sem_wait(&ready);
	pthread_create(&thread, NULL, posts, NULL);
	sem_wait(&ready);
	pthread_join(thread, NULL);
	printf("pthread_create > thread 1\n");
	printf("thread > pthread_join 1\n");
	printf("sem_post > sem_wait 1\n");
}

/* ------------------------------------------------------- data, processes */

/* Writes of 5 bytes, reads of 10: each read takes two. */
KEEP static void pipes(void)
{
	int ends[2];
	char block[10];
	pid_t child;

	if (pipe(ends))
		exit(1);
	child = fork();
	if (!child) {
		for (int i = 0; i < ROUNDS; i++)
			if (write(ends[1], "12345", 5) != 5)
				_exit(1);
		_exit(0);
	}
	close(ends[1]);
	waitpid(child, NULL, 0);
	for (int i = 0; i < ROUNDS / 2; i++)
		if (read(ends[0], block, 10) != 10)
			exit(1);
	close(ends[0]);
	printf("fork > process 1\n");
	printf("process > wait4 1\n");
	printf("write > read %d\n", ROUNDS);
}

/* stdio calls write inside libc; what it reads, read. */
KEEP static void streams(void)
{
	int ends[2];
	FILE *in, *out;
	char line[16];

	if (pipe(ends))
		exit(1);
	in = fdopen(ends[0], "r");
	out = fdopen(ends[1], "w");
	for (int i = 0; i < 3; i++) {
		fputs("line\n", out);
		fflush(out);
		if (!fgets(line, sizeof(line), in))
			exit(1);
	}
	fclose(out);
	fclose(in);
	printf("write > read 3\n");
}

KEEP static void sockets(void)
{
	int ends[2];
	char block[8];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		exit(1);
	child = fork();
	if (!child) {
		for (int i = 0; i < ROUNDS; i++)
			if (recv(ends[1], block, 8, 0) != 8 ||
			    send(ends[1], block, 8, 0) != 8)
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < ROUNDS; i++) {
		memset(block, i, 8);
		if (write(ends[0], block, 8) != 8 ||
		    read(ends[0], block, 8) != 8)
			exit(1);
	}
	waitpid(child, NULL, 0);
	close(ends[0]);
	close(ends[1]);
	printf("fork > process 1\n");
	printf("process > wait4 1\n");
	printf("write > recv %d\n", ROUNDS);
	printf("send > read %d\n", ROUNDS);
}

/* A descriptor's number stands for another pipe each time. */
KEEP static void numbers(void)
{
	int ends[2];
	char block[8];

	for (int i = 0; i < 4; i++) {
		FILE *in;

		if (pipe(ends) || write(ends[1], "x", 1) != 1)
			exit(1);
		in = fdopen(ends[0], "r");
		if (read(ends[0], block, 8) != 1)
			exit(1);
		fclose(in); /* within libc */
		close(ends[1]);
	}
	printf("write > read 4\n");
}

KEEP static void programs(void)
{
	char *arguments[] = {"true", NULL};
	pid_t child;

	if (posix_spawnp(&child, "true", NULL, NULL, arguments, environ))
		exit(1);
	waitpid(child, NULL, 0);
	child = fork();
	if (!child) {
		execvp("true", arguments);
		_exit(1);
	}
	waitpid(child, NULL, 0);
	child = vfork();
	if (!child) {
		execvp("true", arguments);
		_exit(1);
	}
	waitpid(child, NULL, 0);
	printf("exec > exec 3\n");
	printf("fork > process 1\n");
	printf("process > wait4 3\n");
}

/* -------------------------------------------------------------- signals */

static volatile sig_atomic_t handled;

KEEP static void handle(int number)
{
	(void)number;
	handled++;
}

KEEP static void signals(void)
{
	struct sigaction action = {.sa_handler = handle};
	int ready_ends[2];
	char byte;
	pid_t child;

	if (pipe(ready_ends))
		exit(1);
	sigaction(SIGUSR1, &action, NULL);
	child = fork();
	if (!child) {
		for (int i = 0; i < 3; i++) {
			if (write(ready_ends[1], "r", 1) != 1)
				_exit(1);
			while (handled == i)
				pause_a_bit();
		}
		_exit(0);
	}
	for (int i = 0; i < 3; i++) {
		if (read(ready_ends[0], &byte, 1) != 1)
			exit(1);
		kill(child, SIGUSR1);
	}
	waitpid(child, NULL, 0);
	printf("fork > process 1\n");
	printf("process > wait4 1\n");
	printf("write > read 3\n");
	printf("kill > signal 3\n");
}

/* ---------------------------------------------------- what is not certain */

static int shared_ends[2];

static void *writes(void *argument)
{
	for (int i = 0; i < 200; i++)
		if (write(shared_ends[1], argument, 1) != 1)
			exit(1);
	return NULL;
}

/* A reader begins amid another one's: prints how many bytes came. */
KEEP static void contended(void)
{
	pthread_t threads[2];
	char block[400];
	ssize_t got, all = 0;

	if (pipe(shared_ends))
		exit(1);
	pthread_create(&threads[0], NULL, writes, "a");
	pthread_create(&threads[1], NULL, writes, "b");
	while (all < 400) {
		got = read(shared_ends[0], block, 7);
		if (got <= 0)
			exit(1);
		all += got;
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%zd bytes\n", all);
}

/* Bytes that nobody was seen to write. */
KEEP static void unseen(void)
{
	int ends[2];
	char block[4];

	if (pipe(ends))
		exit(1);
	for (int i = 0; i < 3; i++) {
		long result = 1;

		if (i == 1)
			__asm__ volatile("syscall"
					 : "+a"(result)
					 : "D"((long)ends[1]), "S"("u"), "d"(1l)
					 : "rcx", "r11", "memory");
		else
			result = write(ends[1], "s", 1);
		if (result != 1 || read(ends[0], block, 1) != 1)
			exit(1);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{"threads", threads},     {"conditions", conditions},
		{"locks", locks},         {"semaphores", semaphores},
		{"pipes", pipes},         {"streams", streams},
		{"sockets", sockets},     {"numbers", numbers},
		{"programs", programs},   {"signals", signals},
		{"contended", contended}, {"unseen", unseen},
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (argc == 2 && strcmp(argv[1], parts[i].name) == 0) {
			parts[i].run();
			return 0;
		}
	return 2;
}
