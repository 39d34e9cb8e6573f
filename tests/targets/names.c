/* build: -g */
/* Functions whose symbols hold what is special in some output format. Each is
 * called as often as its number says. */

#define APART __attribute__((noipa))

static volatile int sum;

#define NAMED(number, symbol) \
	void named_##number(void) __asm__("\"" symbol "\""); \
	APART void named_##number(void) \
	{ \
		sum = sum + number; \
	}

NAMED(1, "semi;colon")
NAMED(2, "comma, 12 34")
NAMED(3, "quo\\\"te")
NAMED(4, "back\\\\slash")
NAMED(5, "</script><!--")
NAMED(6, "caf\xc3\xa9")
NAMED(7, "latin\xe9")
NAMED(8, "tab\there")
NAMED(9, "%s%n\\\\n")

int main(void)
{
	static void (*const all[])(void) = {
		named_1, named_2, named_3, named_4, named_5,
		named_6, named_7, named_8, named_9,
	};
	int i, j;

	for (i = 0; i < 9; i++)
		for (j = 0; j <= i; j++)
			all[i]();
	return 0;
}
