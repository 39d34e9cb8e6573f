/* build: -g -pthread */
/* Libraries that come and go while the program runs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <iconv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void *load(const char *name)
{
	void *library = dlopen(name, RTLD_NOW);

	if (!library) {
		puts(dlerror());
		exit(1);
	}
	return library;
}

static void *symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		puts(dlerror());
		exit(1);
	}
	return found;
}

static int call(void *library, const char *name, int n)
{
	int (*f)(int) = (int (*)(int))symbol(library, name);

	return f(n);
}

__attribute__((noipa)) int back(int x)
{
	return x + 1;
}

static int call_back(void *library, const char *name, int n)
{
	int (*f)(int (*)(int),
		 int) = (int (*)(int (*)(int), int))symbol(library, name);

	return f(back, n);
}

static long memory_pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (file && fscanf(file, "%ld", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages;
}

static void once(void)
{
	void *library = load("liblate.so");

	printf("%d\n", call(library, "late_entry", 10));
	printf("next %d\n", call(library, "late_next", 0));
	printf("origin %d\n", call(library, "late_origin", 0));
	dlclose(library);
}

static void reload(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		void *library = load("liblate.so");

		sum += call(library, "late_entry", 10);
		dlclose(library);
	}
	printf("%ld\n", sum);
}

/* Says whether the process has grown by more than a MiB since it was warm. */
static void reload_steadily(int n)
{
	long warm;

	reload(n / 10);
	warm = memory_pages();
	reload(n - n / 10);
	puts(memory_pages() - warm > 256 ? "grown" : "steady");
}

/* At another place, since something else is at its first one; then there again.
 */
static void elsewhere(void)
{
	size_t bytes = 1 << 14;
	struct link_map *map;
	char *first = NULL;
	int sum = 0, moved = 0;

	for (int i = 0; i < 3; i++) {
		void *library = load("liblate.so");

		sum += call(library, "late_entry", 10);
		if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
			exit(1);
		if (i == 0)
			first = (char *)map->l_addr;
		moved += (char *)map->l_addr != first;
		if (i < 2)
			dlclose(library);
		if (i == 0 &&
		    mmap(first, bytes, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			 0) != first)
			exit(1);
	}
	printf("%d, moved: %d\n", sum, moved);
}

/* Two libraries in turn; how often the second came where the first had been is
 * told to a file. */
static void alternate(int n, const char *path)
{
	FILE *file = fopen(path, "w");
	int sum = 0, same = 0;

	for (int i = 0; i < n; i++) {
		void *a = load("liblate.so"), *b;
		void *place = symbol(a, "late_quiet");

		sum += call(a, "late_entry", 10);
		sum += call_back(a, "late_call", i);
		sum += call_back(a, "late_quiet", i);
		dlclose(a);
		b = load("liblate_other.so");
		same += symbol(b, "other_quiet") == place;
		sum += call(b, "other_entry", 20);
		sum += call_back(b, "other_call", i);
		sum += call_back(b, "other_quiet", i);
		dlclose(b);
	}
	printf("%d\n", sum);
	if (file) {
		fprintf(file, "%d\n", same);
		fclose(file);
	}
}

/* The library is there twice. */
static void namespaces(void)
{
	void *here = load("liblate.so");
	void *there = dlmopen(LM_ID_NEWLM, "liblate.so", RTLD_NOW);

	if (!there) {
		puts(dlerror());
		exit(1);
	}
	printf("%d %d\n", call(here, "late_entry", 10),
	       call(there, "late_entry", 20));
	printf("%s\n", symbol(here, "late_entry") != symbol(there, "late_entry")
			       ? "apart"
			       : "one");
	dlclose(there);
	dlclose(here);
}

__attribute__((noipa)) int busy_leaf(int x)
{
	return x * 3;
}

static void *be_busy(void *argument)
{
	int x = 0;

	for (int i = 0; i < 200000; i++)
		x += busy_leaf(i);
	*(int *)argument = x;
	return NULL;
}

static void *reload_a_little(void *argument)
{
	reload(200);
	return argument;
}

/* One thread, on a small stack, loads while others call. */
static void among_threads(void)
{
	pthread_t busy[3], loader;
	pthread_attr_t small;
	int results[3];

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (int i = 0; i < 3; i++)
		pthread_create(&busy[i], NULL, be_busy, &results[i]);
	pthread_create(&loader, &small, reload_a_little, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(busy[i], NULL);
	pthread_join(loader, NULL);
	printf("%d\n", results[0] == results[1] && results[1] == results[2]);
}

static void convert(void)
{
	iconv_t to = iconv_open("EUC-JP", "UTF-8");
	char in[] = "\xe3\x81\x82", out[8] = "", *from = in, *into = out;
	size_t in_bytes = 3, out_bytes = sizeof(out);

	if (to == (iconv_t)-1) {
		puts("no EUC-JP");
		return;
	}
	iconv(to, &from, &in_bytes, &into, &out_bytes);
	printf("%02x%02x\n", (unsigned char)out[0], (unsigned char)out[1]);
	iconv_close(to);
}

static void in_children(void)
{
	void *before = load("liblate.so"), *after;
	pid_t child;

	printf("%d\n", call(before, "late_entry", 5));
	fflush(stdout);
	child = fork();
	after = load(child ? "liblate_other.so" : "liblate_throw.so");
	if (!child) {
		void (*f)(int) = (void (*)(int))symbol(after, "throw_here");

		f(2);
		printf("child %d\n", call(before, "late_entry", 7));
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	printf("%d\n", call(after, "other_entry", 9));
}

/* Loading fails, in the middle. */
static void failing(const char *path)
{
	for (int i = 0; i < 10; i++)
		printf("%s\n", dlopen(path, RTLD_NOW) ? "loaded" : "refused");
	once();
}

/* Until a file is there, which a debugger has made meanwhile. */
static void wait_for(const char *path)
{
	fprintf(stderr, "%d\n", getpid());
	for (int i = 0; i < 12000 && access(path, F_OK) != 0; i++)
		usleep(10000);
	once();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "once";
	const char *more = argc > 2 ? argv[2] : "";

	if (strcmp(mode, "once") == 0)
		once();
	else if (strcmp(mode, "reload") == 0)
		reload_steadily(atoi(more));
	else if (strcmp(mode, "elsewhere") == 0)
		elsewhere();
	else if (strcmp(mode, "alternate") == 0)
		alternate(100, more);
	else if (strcmp(mode, "namespaces") == 0)
		namespaces();
	else if (strcmp(mode, "constructor-threads") == 0)
		printf("%d\n",
		       call(load("liblate_threads.so"), "threads_join", 0));
	else if (strcmp(mode, "threads") == 0)
		among_threads();
	else if (strcmp(mode, "iconv") == 0)
		convert();
	else if (strcmp(mode, "textrel") == 0)
		printf("%d\n",
		       call(load("liblate_textrel.so"), "textrel_value", 0));
	else if (strcmp(mode, "fork") == 0)
		in_children();
	else if (strcmp(mode, "failing") == 0)
		failing(more);
	else if (strcmp(mode, "wait") == 0)
		wait_for(more);
	return 0;
}
