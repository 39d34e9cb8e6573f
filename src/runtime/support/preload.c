#include "runtime/support/preload.h"

#include <string.h>

static size_t length_of_word(const char *word)
{
	size_t length = 0;

	while (word[length] && word[length] != ':' && word[length] != ' ')
		length++;
	return length;
}

bool swz_is_preloaded(char **envp)
{
	static const char name[] = "LD_PRELOAD=";

	for (; *envp; envp++)
		if (strncmp(*envp, name, sizeof(name) - 1) == 0)
			return strstr(*envp, "libswizzle.so");
	return false;
}

void swz_preload_split(const char *list, char *others, char *ours)
{
	char *end = others, separator = '\0';

	if (ours)
		*ours = '\0';
	while (*list) {
		size_t length = length_of_word(list);
		char *word = end == others ? end : end + 1;
		char behind = list[length];

		memmove(word, list, length);
		word[length] = '\0';
		if (!strstr(word, "libswizzle.so")) {
			if (word != end)
				*end = separator;
			end = word + length;
		} else if (ours) {
			memcpy(ours, word, length + 1);
		}
		separator = behind;
		list += length + (behind != '\0');
	}
	*end = '\0';
}
