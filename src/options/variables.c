#include "options/variables.h"

#include <string.h>
#include <unistd.h>

#include "options/notice.h"

#define OURS "SWIZZLE_"
#define OF_TESTS OURS "TEST_"

const char *swz_variables_of_dump(size_t index)
{
	static const char *const names[] = {
		OURS "PAGER",           OURS "ADVICE",
		OURS "PROGRESS_AFTER",  OURS "PUSH_TOKEN",
		OURS "PUSH_TOKEN_FILE",
	};

	return index < sizeof(names) / sizeof(names[0]) ? names[index] : NULL;
}

static swz_word_at *all;

/* The names without what all begin with: of that no letter is wrong. */
static const char *name_at(size_t index)
{
	const char *name = all(index);

	return name && *name ? name + strlen(OURS) : name;
}

static void check(const char *variable, size_t length, bool near)
{
	const char *name = variable + strlen(OURS), *meant;

	length -= strlen(OURS);
	if (swz_word_is(name_at, name, length) != SWZ_WORD_UNKNOWN)
		return;
	meant = swz_word_meant(name_at, name, length);
	if (meant)
		swz_notice(OURS "%.*s in the environment is no setting; did "
				"you mean " OURS "%s?",
			   (int)length, name, meant);
	else if (!near)
		swz_notice(OURS "%.*s in the environment is no setting; 'man "
				"swizzle-run' has all",
			   (int)length, name);
}

void swz_variables_check(swz_word_at *known, bool near)
{
	all = known;
	for (char **e = environ; *e; e++)
		if (strncmp(*e, OURS, strlen(OURS)) == 0 &&
		    strncmp(*e, OF_TESTS, strlen(OF_TESTS)) != 0)
			check(*e, strcspn(*e, "="), near);
}
