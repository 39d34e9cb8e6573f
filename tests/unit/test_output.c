/* Output files that are complete or absent; the choice of input files; the
 * text and info writers. */

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/output.h"
#include "profile/file/inputs.h"
#include "profile/formats/common/writers.h"
#include "profile/formats/formats.h"
#include "tests/unit/profile_builder.h"
#include "tests/unit/run_suite.h"

static char directory[] = "/tmp/swizzle-test-XXXXXX";

static void remove_all(void)
{
	DIR *stream = opendir(".");
	struct dirent *entry;

	while ((entry = readdir(stream)))
		if (entry->d_name[0] != '.')
			unlink(entry->d_name);
	closedir(stream);
}

static void setup(void)
{
	memset(directory + strlen(directory) - 6, 'X', 6);
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
}

static void teardown(void)
{
	remove_all();
	ck_assert_int_eq(chdir("/"), 0);
	rmdir(directory);
}

static void write_file(const char *path, const char *text)
{
	FILE *stream = fopen(path, "w");

	ck_assert_ptr_nonnull(stream);
	fputs(text, stream);
	ck_assert_int_eq(fclose(stream), 0);
}

static void check_file(const char *path, const char *expected)
{
	char text[100] = "";
	FILE *stream = fopen(path, "r");

	ck_assert_ptr_nonnull(stream);
	ck_assert_uint_eq(fread(text, 1, sizeof(text) - 1, stream),
			  strlen(expected));
	ck_assert_str_eq(text, expected);
	fclose(stream);
}

static size_t count_files(void)
{
	DIR *stream = opendir(".");
	struct dirent *entry;
	size_t count = 0;

	while ((entry = readdir(stream)))
		count += entry->d_name[0] != '.';
	closedir(stream);
	return count;
}

START_TEST(output_appears_when_it_is_closed)
{
	struct swz_output output;

	write_file("out", "old");
	ck_assert_int_eq(swz_output_open(&output, "out", 0), SWZ_OK);
	fputs("new", output.stream);
	fflush(output.stream);
	check_file("out", "old");
	ck_assert_int_eq(swz_output_close(&output), SWZ_OK);
	check_file("out", "new");
	ck_assert_uint_eq(count_files(), 1);
}
END_TEST

START_TEST(output_goes_through_a_symbolic_link)
{
	struct swz_output output;
	struct stat info;

	write_file("real", "old");
	ck_assert_int_eq(symlink("real", "link"), 0);
	ck_assert_int_eq(swz_output_open(&output, "link", 0), SWZ_OK);
	fputs("new", output.stream);
	ck_assert_int_eq(swz_output_close(&output), SWZ_OK);
	check_file("real", "new");
	ck_assert_int_eq(lstat("link", &info), 0);
	ck_assert(S_ISLNK(info.st_mode));
}
END_TEST

static void write_output(const char *path, unsigned int flags)
{
	struct swz_output output;

	ck_assert_int_eq(swz_output_open(&output, path, flags), SWZ_OK);
	fputs("new", output.stream);
	ck_assert_int_eq(swz_output_close(&output), SWZ_OK);
}

START_TEST(a_name_of_our_own_leads_nowhere_else)
{
	struct stat info;

	write_file("real", "old");
	ck_assert_int_eq(symlink("real", "link"), 0);
	ck_assert_int_eq(symlink("missing", "dangling"), 0);
	ck_assert_int_eq(mkfifo("fifo", 0666), 0);
	write_output("link", SWZ_OUTPUT_OWN_NAME);
	write_output("dangling", SWZ_OUTPUT_OWN_NAME);
	write_output("fifo", SWZ_OUTPUT_OWN_NAME);
	check_file("real", "old");
	check_file("link", "new");
	ck_assert_int_eq(lstat("link", &info), 0);
	ck_assert(S_ISREG(info.st_mode));
	check_file("dangling", "new");
	ck_assert_int_eq(access("missing", F_OK), -1);
	check_file("fifo", "new");
	ck_assert_uint_eq(count_files(), 4);
}
END_TEST

static unsigned int mode_of(const char *path)
{
	struct stat info;

	ck_assert_int_eq(stat(path, &info), 0);
	return info.st_mode & 07777;
}

START_TEST(permissions_are_the_owners_and_those_of_the_replaced_file)
{
	mode_t before = umask(022);

	write_output("public", 0);
	ck_assert_uint_eq(mode_of("public"), 0644);
	write_output("private", SWZ_OUTPUT_PRIVATE);
	ck_assert_uint_eq(mode_of("private"), 0600);
	write_output("private", 0);
	ck_assert_uint_eq(mode_of("private"), 0600);
	ck_assert_int_eq(chmod("private", 0664), 0);
	write_output("private", SWZ_OUTPUT_PRIVATE);
	ck_assert_uint_eq(mode_of("private"), 0664);
	write_output("private", SWZ_OUTPUT_PRIVATE | SWZ_OUTPUT_OWN_NAME);
	ck_assert_uint_eq(mode_of("private"), 0600);
	umask(before);
}
END_TEST

START_TEST(a_full_device_is_an_error)
{
	struct swz_output output;

	if (access("/dev/full", W_OK) != 0)
		return;
	ck_assert_int_eq(swz_output_open(&output, "/dev/full", 0), SWZ_OK);
	fputs("text", output.stream);
	ck_assert_int_eq(swz_output_close(&output), SWZ_E_SYSTEM);
	ck_assert_int_eq(errno, ENOSPC);
}
END_TEST

START_TEST(a_directory_that_is_not_there_is_an_error)
{
	struct swz_output output;

	ck_assert_int_eq(swz_output_open(&output, "missing/out", 0),
			 SWZ_E_SYSTEM);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_uint_eq(count_files(), 0);
}
END_TEST

START_TEST(a_directory_stands_for_its_profiles)
{
	struct swz_inputs inputs = {0};
	struct swz_error error;

	ck_assert_int_eq(swz_inputs_add(&inputs, ".", &error), SWZ_E_NOTFOUND);
	write_file("swizzle.out.2", "");
	write_file("swizzle.out.1", "");
	write_file("other", SWZ_FILE_MAGIC);
	write_file("foreign", "text that is no profile");
	ck_assert_int_eq(swz_inputs_add(&inputs, ".", &error), SWZ_OK);
	ck_assert_uint_eq(inputs.count, 3);
	ck_assert_str_eq(inputs.paths[0], "./other");
	ck_assert_str_eq(inputs.paths[2], "./swizzle.out.2");
	swz_inputs_free(&inputs);
}
END_TEST

static void write_start(const char *path, uint64_t start_ns)
{
	struct swz_file_header header = {.magic = SWZ_FILE_MAGIC,
					 .start_realtime_ns = start_ns};
	FILE *stream = fopen(path, "w");

	ck_assert_ptr_nonnull(stream);
	ck_assert_uint_eq(fwrite(&header, sizeof(header), 1, stream), 1);
	ck_assert_int_eq(fclose(stream), 0);
}

START_TEST(of_a_directory_the_first_process_comes_first)
{
	struct swz_inputs inputs = {0};
	struct swz_error error;

	write_file("swizzle.out.1", "");
	write_start("swizzle.out.2", 3000);
	write_start("swizzle.out.3", 3000);
	write_start("swizzle.out.32767", 2000);
	ck_assert_int_eq(swz_inputs_add(&inputs, ".", &error), SWZ_OK);
	ck_assert_uint_eq(inputs.count, 4);
	ck_assert_str_eq(inputs.paths[0], "./swizzle.out.32767");
	ck_assert_str_eq(inputs.paths[1], "./swizzle.out.2");
	ck_assert_str_eq(inputs.paths[2], "./swizzle.out.3");
	ck_assert_str_eq(inputs.paths[3], "./swizzle.out.1");
	swz_inputs_free(&inputs);
}
END_TEST

START_TEST(the_newest_profile_is_the_default)
{
	struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct swz_inputs inputs = {0};

	ck_assert_int_eq(swz_inputs_add_newest(&inputs), SWZ_E_NOTFOUND);
	write_file("swizzle.out.7", "");
	write_file("swizzle.out.8", "");
	ck_assert_int_eq(utimensat(AT_FDCWD, "swizzle.out.8", times, 0), 0);
	ck_assert_int_eq(swz_inputs_add_newest(&inputs), SWZ_OK);
	ck_assert_uint_eq(inputs.count, 1);
	ck_assert_str_eq(inputs.paths[0], "swizzle.out.7");
	swz_inputs_free(&inputs);
}
END_TEST

static char *written; /* by a writer */

static void check_written(const char *part)
{
	if (!strstr(written, part))
		ck_abort_msg("no '%s' in:\n%s", part, written);
}

START_TEST(text_is_a_sorted_table)
{
	static const struct swz_catalog_options names = {.quiet = true};
	struct swz_table_options table = {.rows = 2};
	struct swz_section section = {.profile_count = 1, .part = 1};
	struct swz_report report = {0};
	struct profile_builder builder;
	struct swz_profile *profile;
	struct swz_catalog catalog;
	struct swz_binding binding;
	struct swz_tree tree;
	FILE *stream;
	size_t size;
	uint32_t root;

	builder_begin(&builder);
	builder_header(&builder)->clock[1].monotonic_ns = 4500;
	builder_module(&builder, 0, "/bin/prog", 0x400000, 1, 4);
	root = builder_thread(&builder, 0, 7, "main", 2000, 3);
	builder_call(&builder, root + 1, root, root + 1, 1, 0, 1, 900, 900);
	builder_call(&builder, root + 2, root + 1, root + 2, 2, 0, 3, 300, 300);
	profile = builder_read(&builder);
	swz_catalog_begin(&catalog, &names);
	swz_catalog_bind(&binding, &catalog, profile);
	swz_tree_build(&tree, profile, &profile->threads[0], false);
	swz_report_add(&report, &binding, &tree);
	swz_report_sort(&report);
	swz_catalog_resolve(&catalog);
	section.catalog = &catalog;
	section.report = &report;
	section.profile = profile;
	section.profiles = &profile;
	stream = open_memstream(&written, &size);
	swz_write_text(stream, &section, &table);
	fclose(stream);
	check_written("calls            self            incl  function  "
		      "module\n           1             600             900  "
		      "sub_1000  prog\n           3             300           "
		      "  300  sub_1100  prog\n");
	ck_assert_ptr_null(strstr(written, SWZ_OUTSIDE_NAME));
	free(written);
	swz_tree_free(&tree);
	swz_report_free(&report);
	swz_binding_free(&binding);
	swz_catalog_free(&catalog);
	swz_profile_free(profile);
	builder_free(&builder);
}
END_TEST

START_TEST(info_adds_refusals_up)
{
	struct profile_builder builder;
	struct swz_profile *profile;
	FILE *stream;
	size_t size;

	builder_begin(&builder);
	builder_command(&builder);
	builder_module(&builder, 0, "/bin/prog", 0x400000, 1, 4);
	builder_module_record(&builder, 0)->counts[SWZ_REFUSE_TOO_SHORT] = 2;
	builder_module_record(&builder, 0)->counts[31] = 1;
	builder_module(&builder, 1, "/lib/libc.so.6", 0x800000, 5, 0);
	builder_module_record(&builder, 1)->in_scope = 0;
	builder_module(&builder, 2, "linux-vdso.so.1", 0xa00000, 5, 0);
	builder_module_record(&builder, 2)->in_scope = 0;
	builder_thread(&builder, 0, 7, "main", 3000, 3);
	profile = builder_read(&builder);
	stream = open_memstream(&written, &size);
	swz_write_info(stream, profile);
	fclose(stream);
	check_written("pid: 4242\n");
	check_written("command: prog a b\n");
	check_written("clock: 2.000000 GHz\n");
	check_written("         7  main             "
		      "               0         0.000001000 s    not known\n");
	check_written("module                   functions   patched   "
		      "refused\n"
		      "/bin/prog                        7         4         3\n"
		      "    too short for a jump                             2\n"
		      "    a reason unknown to this version                 "
		      "1\n"
		      "\nnot in scope: libc.so.6, linux-vdso.so.1\n");
	free(written);
	swz_profile_free(profile);
	builder_free(&builder);
}
END_TEST

/* The writer's part: holds the file's lock until PARENT sleeps, as
 * /proc/PID/stat says in its third field. */
_Noreturn static void hold_until_asleep(const char *path, pid_t parent,
					int locked)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char name[64], state = 'R', text[512];

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)parent);
	if (fd < 0 || flock(fd, LOCK_EX) != 0 || close(locked) != 0)
		_exit(1);
	while (state != 'S') {
		FILE *stat = fopen(name, "re");
		const char *end = NULL;

		if (!stat)
			_exit(1);
		if (fgets(text, sizeof(text), stat))
			end = strrchr(text, ')');
		fclose(stat);
		if (end)
			state = end[2];
	}
	_exit(0);
}

/* A process may have ended before the sampler could read when it began. */
START_TEST(a_sampler_is_waited_for_whose_process_was_gone_at_once)
{
	struct swz_file_header header = {
		.magic = SWZ_FILE_MAGIC,
		.flags = SWZ_FILE_SAMPLES,
	};
	struct pollfd lock = {.events = POLLIN};
	int file = open("samples", O_RDWR | O_CREAT | O_EXCL, 0600), ends[2];
	pid_t gone = fork(), writer;

	if (gone == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(gone, NULL, 0), gone);
	header.pid = gone;
	ck_assert_int_eq(write(file, &header, sizeof(header)), sizeof(header));
	close(file);
	ck_assert_int_eq(pipe(ends), 0);
	writer = fork();
	if (writer == 0) {
		close(ends[0]);
		hold_until_asleep("samples", getppid(), ends[1]);
	}
	close(ends[1]);
	lock.fd = ends[0];
	while (poll(&lock, 1, 0) == 0)
		;
	ck_assert(swz_wait_for_sampler("samples"));
	ck_assert_int_eq(waitpid(writer, NULL, 0), writer);
	ck_assert(!swz_wait_for_sampler("samples"));
	close(ends[0]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("output");
	TCase *tests = tcase_create("output");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, output_appears_when_it_is_closed);
	tcase_add_test(tests, output_goes_through_a_symbolic_link);
	tcase_add_test(tests, a_name_of_our_own_leads_nowhere_else);
	tcase_add_test(
		tests,
		permissions_are_the_owners_and_those_of_the_replaced_file);
	tcase_add_test(tests, a_full_device_is_an_error);
	tcase_add_test(tests, a_directory_that_is_not_there_is_an_error);
	tcase_add_test(tests, a_directory_stands_for_its_profiles);
	tcase_add_test(tests, of_a_directory_the_first_process_comes_first);
	tcase_add_test(tests, the_newest_profile_is_the_default);
	tcase_add_test(tests,
		       a_sampler_is_waited_for_whose_process_was_gone_at_once);
	tcase_add_test(tests, text_is_a_sorted_table);
	tcase_add_test(tests, info_adds_refusals_up);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
