/* swizzle-dump on files that are no profiles, or no longer: a message and a
 * status, or what is left with a warning; and -f raw, which marks what is
 * wrong. (Programs that are gone: tests/e2e/test_damaged_profiles.sh.) */

#include <check.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "swizzle/format.h"
#include "tests/unit/dumped.h"
#include "tests/unit/run_suite.h"

/* Profiles of real programs. */
static const char *const recorded[] = {"counts",  "embedded",     "marks",
				       "ranks",   "percentiles",  "small",
				       "samples", "run_time_code"};
enum { RECORDED = sizeof(recorded) / sizeof(*recorded) };

/* All formats, but those of traces, samples and code. */
static const char *const formats[] = {
	"text", "raw", "info",  "callgrind",  "table",  "brief",
	"tree", "dot", "graph", "speedscope", "pprof",  "otlp",
	"html", "csv", "json",  "sqlite",     "folded", "archive",
};
enum { FORMATS = sizeof(formats) / sizeof(*formats) };

static char top[4096];
static unsigned char bytes[1 << 17];
static size_t size;

static void setup(void)
{
	dump_begin();
	dump_made("p", 4242,
		  "path /bin/prog A\n"
		  "main 1 900\n"
		  "  work 10 600\n"
		  "    so:add 20 200\n"
		  "thread worker \"2\" 500\n"
		  "work 5 400\n");
}

static void load(const char *path)
{
	FILE *file = fopen(path, "r");

	ck_assert_msg(file != NULL, "%s", path);
	size = fread(bytes, 1, sizeof(bytes), file);
	ck_assert_uint_lt(size, sizeof(bytes));
	fclose(file);
}

static void load_recorded(const char *name)
{
	char path[sizeof(top) + 64];

	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/fuzz_reader/%s", top,
		 name);
	load(path);
}

static void save(const char *name, size_t first)
{
	FILE *file = fopen(name, "w");

	ck_assert_uint_eq(fwrite(bytes, 1, first, file), first);
	fclose(file);
}

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	fputs(text, file);
	fclose(file);
}

static bool is_there(const char *name)
{
	return access(name, F_OK) == 0;
}

/* A message of a line, and no file. */
static void refuses(const char *says, const char *file)
{
	static const char *const ways[] = {"-f text", "-o made"};
	char words[128];

	for (int i = 0; i < 2; i++) {
		snprintf(words, sizeof(words), "%s %s", ways[i], file);
		dump_refuses(words, 1, says);
		ck_assert_ptr_eq(strchr(dumped.err, '\n') + 1,
				 strchr(dumped.err, '\0'));
		ck_assert(!is_there("made"));
	}
}

/* Whatever is wrong, each line of messages is one of ours. */
static void dump_does_not_crash(const char *words, const char *what)
{
	const char *line;

	dump("%s", words);
	ck_assert_msg(dumped.status >= 0 && dumped.status <= 2,
		      "%s, %s: status %d: %s", what, words, dumped.status,
		      dumped.err);
	for (line = dumped.err; *line; line = strchr(line, '\n') + 1)
		ck_assert_msg(strncmp(line, "swizzle: ", 9) == 0 &&
				      strchr(line, '\n'),
			      "%s, %s: %s", what, words, dumped.err);
}

START_TEST(what_is_no_file)
{
	refuses("No such file", "missing");
	ck_assert_int_eq(mkdir("directory", 0700), 0);
	refuses("no profile", "directory");
	ck_assert_int_eq(chdir("directory"), 0);
	dump_refuses("-f text", 1, "swizzle.out");
	ck_assert_int_eq(chdir(".."), 0);
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	refuses("not a regular file", "fifo");
	refuses(": ", "/dev/null");
}
END_TEST

START_TEST(what_is_no_profile)
{
	static const char magic[8] = "SWZPROF\n";

	write_text("zero", "");
	refuses("empty", "zero");
	write_text("letter", "Dear reader, this is no profile.\n");
	refuses("not a", "letter");
	refuses("not a", "\"$DUMP\"");
	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, magic, sizeof(magic));
	save("magic", 8);
	refuses("cut off within its header (8 bytes)", "magic");
	save("zeros", 8192);
	refuses("unknown byte order 0", "zeros");
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * i + i / 7);
	save("noise", 100000);
	refuses("not a", "noise");
	memcpy(bytes, magic, sizeof(magic));
	save("noise", 100000);
	refuses(": ", "noise");
}
END_TEST

START_TEST(other_versions)
{
	load("p");
	bytes[8] = 255;
	save("other", size);
	refuses("other: recorded by a newer swizzle (file format 255, ",
		"other");
	bytes[8] = 3;
	save("other", size);
	refuses("other: recorded by an older swizzle (file format 3, ",
		"other");
	dump_has(dumped.err, ": record it again\n");
}
END_TEST

static int run(const char *words)
{
	char command[256];

	snprintf(command, sizeof(command), "exec \"$DUMP\" %s", words);
	return system(command);
}

START_TEST(what_cannot_be_written)
{
	dump_refuses("-o /nowhere/at/all p", 1, "/nowhere/at/all");
	dump_refuses("-f text -o /dev/full p", 1, "No space left on device");
	dump_refuses("-q -f callgrind --by thread,parts -o /dev/full p", 1,
		     "No space left on device");
	for (int i = 0; i < 2; i++) {
		int status = run(i ? "--help >/dev/full 2>said"
				   : "-f text p >/dev/full 2>said");

		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
		load("said");
		bytes[size] = '\0';
		dump_has((char *)bytes,
			 "standard output: No space left on device\n");
	}
}
END_TEST

/* Runs it so that nobody reads the pipe behind FD. */
static int dump_unread(int fd, const char *words)
{
	int ends[2], kept = dup(fd), status;

	ck_assert_int_eq(pipe(ends), 0);
	close(ends[0]);
	signal(SIGPIPE, SIG_DFL);
	dup2(ends[1], fd);
	close(ends[1]);
	status = run(words);
	dup2(kept, fd);
	close(kept);
	return status;
}

START_TEST(pipes_that_nobody_reads)
{
	int status = dump_unread(1, "-f text p 2>said");

	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
	load("said");
	ck_assert_uint_eq(size, 0);
	write_text("letter", "Dear reader, this is no profile.\n");
	status = dump_unread(2, "p -o made letter");
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	ck_assert(is_there("made"));
}
END_TEST

START_TEST(one_bad_file_among_good_ones)
{
	static const char *const bad[] = {"letter", "nosuch", "./nosuch/"};
	static const char *const ways[] = {"-f text", "-f raw"};
	char words[128], *whole;

	write_text("letter", "Dear reader, this is no profile.\n");
	for (int way = 0; way < 2; way++) {
		dump("%s p", ways[way]);
		whole = strdup(dumped.out);
		for (int i = way; i < 3; i++) {
			snprintf(words, sizeof(words), "%s %s p", ways[way],
				 bad[i]);
			dump_says(words, 1, bad[i]);
			ck_assert(strcmp(dumped.out, whole) == 0);
		}
		free(whole);
	}
}
END_TEST

/* The formats take turns. */
START_TEST(truncated)
{
	static const size_t firsts[] = {4096, 4097,  4160,  5000,
					8192, 12345, 17000, 17727};
	static const char *const compared[] = {"text", "tree", "folded",
					       "callgrind"};
	static const size_t tiny[] = {1, 7, 8, 100};
	char words[128], what[64];
	unsigned turn = 0;

	load("p");
	ck_assert_uint_eq(size, 17728);
	for (int i = 0; i < 4; i++) {
		save("part", tiny[i]);
		refuses(": ", "part");
	}
	save("part", 4095);
	dump_refuses("-f text part", 1, "nothing usable");
	for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++) {
		save("part", firsts[i]);
		snprintf(what, sizeof(what), "%zu bytes", firsts[i]);
		for (unsigned end = turn + 6; turn < end; turn++) {
			snprintf(words, sizeof(words), "-f %s -o made part",
				 formats[turn % FORMATS]);
			dump_does_not_crash(words, what);
			ck_assert_msg(*dumped.err, "%s: %s: no word", what,
				      words);
		}
	}
	for (int i = 0; i < 8; i++) {
		snprintf(words, sizeof(words), "-f %s -o made --diff %s",
			 compared[i / 2], i % 2 ? "p part" : "part p");
		dump_does_not_crash(words, what);
		dump_has(dumped.err, "swizzle: part: ");
	}
}
END_TEST

START_TEST(a_hole_of_a_terabyte)
{
	struct swz_file_header *header = (void *)bytes;

	load("p");
	header->used_bytes = INT64_MAX;
	save("part", size);
	if (truncate("part", (off_t)1 << 40) != 0)
		return;
	dump_says("-f text part", 0, "truncated");
	dump_has(dumped.out, "# damaged profiles: 1\n");
	dump_rows();
	/* main has 900 - 600 ns, work 600 - 200 and 400, and of 1500 ns
	 * nobody has 100 and 100 */
	ck_assert_str_eq(dumped.out, "15 800 1000 work  prog\n"
				     "1 300 900 main  prog\n"
				     "0 200 1500 [outside]  -\n"
				     "20 200 200 add  libso.so\n");
}
END_TEST

START_TEST(calls_that_were_lost_say_why)
{
	struct swz_file_header *header = (void *)bytes;

	dump_made("p", 4242, "lost 399\nmain 1 900\n");
	dump_says("-f text p", 0,
		  "p: 399 calls were not recorded: there was no memory, ");
	load("p");
	header->flags |= SWZ_FILE_SHORT;
	save("short", size);
	dump_says("-f text short", 0,
		  "short: 399 calls were not recorded: the file could not grow "
		  "any more (ulimit -f)\n");
	header->lost_calls = 1;
	header->full = SWZ_FULL_DISK;
	save("disk", size);
	dump_says("-f text disk", 0, "the disk was full");
	dump_has(dumped.err, "disk: 1 call was not recorded\n");
}
END_TEST

START_TEST(one_byte_is_missing)
{
	struct swz_file_header *header = (void *)bytes;

	load("p");
	header->used_bytes = size + 1;
	save("part", size);
	dump_says(
		"-f text part", 0,
		"part: truncated, 1 byte is missing; showing what is there\n");
}
END_TEST

START_TEST(pages_of_zeros)
{
	static const char *const plain[] = {"text", "tree --bottom-up"};
	char words[128], what[64];
	unsigned turn = 0;

	for (int i = 0; i < RECORDED; i++)
		for (size_t at = 0;; at += 4096) {
			load_recorded(recorded[i]);
			if (at >= size)
				break;
			memset(bytes + at, 0, 4096);
			save("holed", size);
			snprintf(what, sizeof(what), "%s without page %zu",
				 recorded[i], at / 4096);
			for (int n = 0; n < 5; n++) {
				snprintf(words, sizeof(words),
					 "-f %s -o made holed",
					 n < 2 ? plain[n]
					       : formats[turn++ % FORMATS]);
				dump_does_not_crash(words, what);
			}
		}
}
END_TEST

static uint64_t state;

/* Knuth's generator of 64 bits (MMIX). */
static uint32_t draw(size_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % below);
}

/* Some lone bytes, some whole words that are all wrong. */
static void spoil(void)
{
	const uint64_t words[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, size};

	for (uint32_t n = 1 + draw(12); n; n--)
		bytes[draw(draw(4) ? size : 256)] = (unsigned char)draw(256);
	for (uint32_t n = draw(4); n; n--)
		memcpy(bytes + (size_t)8 * draw(size / 8), &words[draw(5)], 8);
}

START_TEST(random_bytes)
{
	unsigned rounds = getenv("TEST_LONG") ? 200 : 8;
	char words[128], what[64];
	unsigned turn = 0;

	for (unsigned round = 0; round < rounds; round++) {
		load_recorded(recorded[_i]);
		state = 1000 * (unsigned)_i + round;
		spoil();
		save("wrong", size);
		snprintf(what, sizeof(what), "%s, round %u", recorded[_i],
			 round);
		for (int n = 0; n < 4; n++) {
			snprintf(words, sizeof(words), "-f %s -o made wrong",
				 formats[turn++ % FORMATS]);
			dump_does_not_crash(words, what);
		}
	}
}
END_TEST

/* --- -f raw ----------------------------------------------------------------
 */

static void raw(const char *words)
{
	dump("-f raw %s", words);
	ck_assert_int_eq(dumped.status, 0);
}

static int count(const char *part)
{
	const char *at = dumped.out;
	int found = 0;

	for (; (at = strstr(at, part)); at++)
		found++;
	return found;
}

/* Where -f raw says that the first chunk of that type is. */
static size_t chunk_at(const char *type)
{
	const char *at;

	raw("p");
	at = strstr(dumped.out, type);
	ck_assert_ptr_nonnull(at);
	while (strncmp(at, "chunk at ", 9) != 0)
		at--;
	return strtoul(at + 9, NULL, 16);
}

START_TEST(raw_has_all)
{
	size_t next = 4096, begin, bytes_long;
	const char *at;
	int chunks = 0;

	raw("p");
	ck_assert_str_eq(dumped.err, "");
	ck_assert_ptr_null(strchr(dumped.out, '!'));
	dump_has(dumped.out, "\n  used_bytes         17728 (0x4540)\n");
	dump_has(dumped.out, "\n  path              /bin/prog\n");
	dump_has(dumped.out, "\n  build_id           20 bytes "
			     "4100000000000000000000000000000000000000\n");
	ck_assert_int_eq(count(": THREAD "), 2);
	dump_has(dumped.out, "\n  tid                100, name main\n");
	dump_has(dumped.out, "\n  tid                101, name worker \"2\"\n");
	/* four contexts, and the roots of two threads */
	ck_assert_int_eq(count("\n  unit "), 6);
	for (int calls = 1; calls <= 20; calls++) {
		char part[32];

		snprintf(part, sizeof(part), " calls %d ", calls);
		ck_assert_int_eq(count(part), calls == 1 || calls == 5 ||
						      calls == 10 ||
						      calls == 20);
	}
	/* the chunks follow each other, from the header to the end */
	for (at = dumped.out; (at = strstr(at, "\nchunk at ")); chunks++) {
		at += strlen("\nchunk at ");
		ck_assert_int_eq(sscanf(at, "%zx: %*s (%*d), %zu bytes,",
					&begin, &bytes_long),
				 2);
		ck_assert_uint_eq(begin, next);
		next = begin + bytes_long;
	}
	ck_assert_uint_eq(next, 17728);
	ck_assert_int_eq(chunks, 13);
}
END_TEST

START_TEST(raw_of_some)
{
	raw("-n 2 p");
	ck_assert_int_eq(count("\n  unit "), 4);
	/* of four contexts of the first thread */
	dump_has(dumped.out, " max 900 open 0 flags 0x0\n  ... 2 more\n");
	dump_refuses("-f raw -s self p", 2, "raw has no use for -s");
}
END_TEST

START_TEST(names_of_files_are_a_line)
{
	ck_assert_int_eq(rename("p", "pro\nfile"), 0);
	dump("-f raw 'pro\nfile'");
	ck_assert_int_eq(strncmp(dumped.out, "file: pro?file\n", 15), 0);
	dump("-f info 'pro\nfile'");
	ck_assert_int_eq(strncmp(dumped.out, "file: pro?file\n", 15), 0);
}
END_TEST

START_TEST(raw_marks_what_was_cut_off)
{
	load("p");
	save("part", 15000);
	raw("part");
	dump_has(dumped.err, " faults, which are marked by ");
	dump_has(dumped.out, "! more than the file has: it was truncated");
	dump_has(dumped.out, "COMMAND");
}
END_TEST

START_TEST(raw_marks_chunks_whose_header_is_lost)
{
	struct swz_file_header *header = (void *)bytes;
	size_t at = chunk_at("COMMAND");
	char said[64];

	load("p");
	memset(bytes + at, 0, 4);
	save("holed", size);
	raw("holed");
	snprintf(said, sizeof(said), "no chunk at 0x%zx", at);
	dump_has(dumped.out, said);
	dump_has(dumped.out, "! not part of any chunk");
	ck_assert_int_eq(count(": THREAD "), 2);
	raw("-q holed");
	ck_assert_str_eq(dumped.err, "");
	/* Of a process that was killed, only room without any record was taken
	 * for a chunk that it did not begin. */
	header->flags = 0;
	save("holed", size);
	raw("holed");
	dump_has(dumped.out, "! not part of any chunk");
	memset(bytes + at, 0, 128);
	save("holed", size);
	raw("holed");
	dump_has(dumped.out, "taken for a chunk that was not begun yet");
	ck_assert_int_eq(count("! not part of any chunk"), 0);
}
END_TEST

START_TEST(raw_marks_records_without_room)
{
	size_t at = chunk_at("FUNCTIONS");
	struct swz_chunk *chunk = (void *)(bytes + at);

	load("p");
	chunk->count = INT32_MAX;
	save("wrong", size);
	raw("wrong");
	dump_has(dumped.out, "! more records than the chunk has room for");
}
END_TEST

START_TEST(raw_of_what_is_no_profile)
{
	write_text("letter", "Dear reader, this is no profile.\n");
	raw("letter");
	dump_has(dumped.out, "! not that of a profile");
	dump_says("-f raw missing letter", 1, "No such file");
	ck_assert_int_eq(strncmp(dumped.out, "file: letter\n", 13), 0);
	write_text("kept", "old");
	dump_says("-f raw -o kept missing", 1, "No such file");
	load("kept");
	ck_assert(size == 3 && memcmp(bytes, "old", 3) == 0);
	ck_assert_int_eq(system("test kept = $(echo kept*)"), 0);
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	dump_says("-f raw fifo", 1, "not a regular file");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dump_damage");
	TCase *t = tcase_create("dump_damage");

	if (!getcwd(top, sizeof(top)))
		return 1;
	tcase_add_checked_fixture(t, setup, dump_end);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, what_is_no_file);
	tcase_add_test(t, what_is_no_profile);
	tcase_add_test(t, other_versions);
	tcase_add_test(t, what_cannot_be_written);
	tcase_add_test(t, pipes_that_nobody_reads);
	tcase_add_test(t, one_bad_file_among_good_ones);
	tcase_add_test(t, truncated);
	tcase_add_test(t, a_hole_of_a_terabyte);
	tcase_add_test(t, calls_that_were_lost_say_why);
	tcase_add_test(t, one_byte_is_missing);
	tcase_add_test(t, pages_of_zeros);
	tcase_add_loop_test(t, random_bytes, 0, RECORDED);
	tcase_add_test(t, raw_has_all);
	tcase_add_test(t, raw_of_some);
	tcase_add_test(t, names_of_files_are_a_line);
	tcase_add_test(t, raw_marks_what_was_cut_off);
	tcase_add_test(t, raw_marks_chunks_whose_header_is_lost);
	tcase_add_test(t, raw_marks_records_without_room);
	tcase_add_test(t, raw_of_what_is_no_profile);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
