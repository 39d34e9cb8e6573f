/* build: -pthread -lspanning */
/* Calls the functions of libspanning.S as it is told, a line at a time, and
 * answers with a line: "run N", each N times; "spin THREADS", each of these
 * calls them until "rest"; "open FILE", from then on another copy of the
 * library, until "close"; "leave". Answers tell of wrong results. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef long function(long n);

struct entry {
	function *function;
	const char *name;
};

extern const struct entry spanning_table[];

enum { MOST_THREADS = 16 };

static const struct entry *table = spanning_table;
static pthread_t threads[MOST_THREADS];
static int thread_count;
static atomic_bool resting;
static atomic_long wrong;

static void call_each(void)
{
	for (const struct entry *e = table; e->function; e++) {
		long expected = strncmp(e->name, "loop", 4) ? 10 : 45;

		if (e->function(9) != expected)
			wrong++;
	}
}

static void *spin(void *unused)
{
	while (!resting)
		call_each();
	return unused;
}

static void rest(void)
{
	resting = true;
	while (thread_count)
		pthread_join(threads[--thread_count], NULL);
	resting = false;
}

static void open_copy(const char *path, void **handle)
{
	const struct entry *other;

	*handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	other = *handle ? dlsym(*handle, "spanning_table") : NULL;
	if (other)
		table = other;
	printf("%s\n", other ? "opened" : dlerror());
}

int main(void)
{
	char line[4096], word[64], text[2048];
	void *handle = NULL;
	long number;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin)) {
		number = 0;
		if (sscanf(line, "%63s %2047s", word, text) < 1)
			continue;
		sscanf(text, "%ld", &number);
		if (strcmp(word, "run") == 0) {
			for (long i = 0; i < number; i++)
				call_each();
			printf("ran %ld, wrong %ld\n", number, wrong);
		} else if (strcmp(word, "spin") == 0) {
			for (; thread_count < number; thread_count++)
				pthread_create(&threads[thread_count], NULL,
					       spin, NULL);
			printf("spinning\n");
		} else if (strcmp(word, "rest") == 0) {
			rest();
			printf("wrong %ld\n", wrong);
		} else if (strcmp(word, "open") == 0) {
			open_copy(text, &handle);
		} else if (strcmp(word, "close") == 0) {
			table = spanning_table;
			dlclose(handle);
			printf("closed\n");
		} else if (strcmp(word, "leave") == 0) {
			break;
		}
	}
	printf("left\n");
	return 3;
}
