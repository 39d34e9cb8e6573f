/* Ten passes of begin(), body() and end(): for --start-at and --stop-at. */

#define NOINLINE __attribute__((noinline))

static volatile int sink;

NOINLINE void begin(void)
{
	sink += 1;
	sink += 2;
	sink += 3;
}

NOINLINE void body(void)
{
	sink += 4;
	sink += 5;
	sink += 6;
}

NOINLINE void end(void)
{
	sink += 7;
	sink += 8;
	sink += 9;
}

int main(void)
{
	for (int i = 0; i < 10; i++) {
		begin();
		body();
		end();
	}
	return 0;
}
