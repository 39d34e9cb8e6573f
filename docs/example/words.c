/* Counts the words of its files, one thread for each file.
 *
 *   cc -g -O2 -pthread -o words words.c       slow on purpose
 *   cc -g -O2 -pthread -DBUCKETS=65536 -o words words.c */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BUCKETS
#define BUCKETS 64
#endif

struct word {
	struct word *next;
	unsigned hash, count;
	char text[];
};

static struct word *table[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static unsigned hash_word(const char *text)
{
	unsigned hash = 5381;

	while (*text)
		hash = hash * 33 + (unsigned char)*text++;
	return hash;
}

__attribute__((noinline)) static struct word *find_word(const char *text)
{
	unsigned hash = hash_word(text);
	struct word **place = &table[hash % BUCKETS];

	while (*place && ((*place)->hash != hash || strcmp((*place)->text, text) != 0))
		place = &(*place)->next;
	if (!*place) {
		*place = calloc(1, sizeof(**place) + strlen(text) + 1);
		if (!*place)
			exit(1);
		(*place)->hash = hash;
		strcpy((*place)->text, text);
	}
	return *place;
}

__attribute__((noinline)) static void count_word(const char *text)
{
	pthread_mutex_lock(&lock);
	find_word(text)->count++;
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static int read_word(FILE *file, char *word, int size)
{
	int length = 0, c;

	while ((c = getc_unlocked(file)) != EOF) {
		if (isalnum(c) && length < size - 1)
			word[length++] = (char)tolower(c);
		else if (length)
			break;
	}
	word[length] = '\0';
	return length;
}

static void *count_file(void *name)
{
	FILE *file = fopen(name, "r");
	char word[64];

	if (!file) {
		perror(name);
		return NULL;
	}
	while (read_word(file, word, sizeof(word)))
		count_word(word);
	fclose(file);
	return NULL;
}

static void print_result(void)
{
	const struct word *most = NULL;
	unsigned words = 0;

	for (int i = 0; i < BUCKETS; i++)
		for (struct word *word = table[i]; word; word = word->next) {
			words++;
			if (!most || word->count > most->count)
				most = word;
		}
	if (most)
		printf("%u words, most often: %s (%u)\n", words, most->text, most->count);
}

int main(int argc, char **argv)
{
	pthread_t *threads = calloc((size_t)argc, sizeof(*threads));

	for (int i = 1; i < argc; i++)
		pthread_create(&threads[i], NULL, count_file, argv[i]);
	for (int i = 1; i < argc; i++)
		pthread_join(threads[i], NULL);
	print_result();
	free(threads);
	return 0;
}
