#include "util/interpreters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/memory.h"

#define MOST_FILE ((size_t)1 << 30)
#define MOST_RELEASE 65536u
#define MOST_FOLDERS 6u

#define PYTHON \
	.language = "Python", .sampled = true, .oldest = 306, .newest = 315, \
	.version = "Py_Version"

static const struct swz_interpreter interpreters[] = {
	{.symbol = "Py_BytesMain", PYTHON},
	{.symbol = "Py_Main", PYTHON}, /* before 3.8 */
	{.symbol = "_ZN4node5StartEiPPc",
	 .language = "JavaScript",
	 .sampled = true,
	 .options = "--perf-basic-prof --interpreted-frames-native-stack"},
	{.symbol = "JNI_CreateJavaVM",
	 .language = "Java",
	 .sampled = true,
	 .oldest = 1700,
	 .newest = 2599,
	 .release = "JAVA_VERSION=\"",
	 .options = "-XX:+PreserveFramePointer "
		    "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit",
	 .command = "jcmd %d Compiler.perfmap"}, /* JDK 17 and later */
	{.symbol = "php_execute_script",
	 .language = "PHP",
	 .sampled = true,
	 .oldest = 704,
	 .newest = 804,
	 .before = "Zend Engine v",
	 .lower = 4, /* PHP 8.2 has 4.2, as it always was */
	 .options = "-d opcache.enable_cli=1 -d opcache.jit_buffer_size=32M "
		    "-d opcache.jit=function -d opcache.jit_debug=16"},
	{.symbol = "luaJIT_setmode", .language = "Lua", .sampled = true},
	{.symbol = "ruby_run_node",
	 .language = "Ruby",
	 .sampled = true,
	 .oldest = 207,
	 .newest = 304,
	 .without = {300, 302},
	 .version = "ruby_version"},
	/* 5.2 and later */
	{.symbol = "lua_pcallk",
	 .language = "Lua",
	 .sampled = true,
	 .runs = "lua_pcallk",
	 .oldest = 504,
	 .newest = 504,
	 .version = "lua_ident"},
	{.symbol = "lua_pcall", .language = "Lua", .runs = "lua_pcall"},
	{.symbol = "perl_run",
	 .language = "Perl",
	 .sampled = true,
	 .oldest = 536,
	 .newest = 542,
	 .version = "PL_version"},
	{.symbol = "Tcl_EvalObjv", .language = "Tcl"},
	{.symbol = "parse_and_execute", .language = "shell scripts"}, /* bash */
};

const struct swz_interpreter *swz_interpreter_in(
	const struct swz_interpreter_file *file)
{
	for (size_t i = 0; i < sizeof(interpreters) / sizeof(*interpreters);
	     i++)
		if (file->defines(file->context, interpreters[i].symbol))
			return &interpreters[i];
	return NULL;
}

static bool is_digit(uint8_t byte)
{
	return byte >= '0' && byte <= '9';
}

#define LUA_BEFORE "$LuaVersion: Lua "
#define VERSION_BYTES (sizeof(LUA_BEFORE) - 1 + 4)

/* Ruby's is a text, "3.1.2", Python's a number, 0x030b02f0, Perl's two bytes,
 * 36 and 5, Lua's a text with another one before. (Python's first byte is no
 * release before 0xa0.) 0: it is none. */
static unsigned version_of(const uint8_t *bytes, size_t size)
{
	if (size == VERSION_BYTES && memcmp(bytes, LUA_BEFORE, size - 4) == 0)
		bytes += size - 4;
	if (size < 4)
		return 0;
	if (bytes[1] == 5 && bytes[0] < 100)
		return 500u + bytes[0];
	if (!is_digit(bytes[0]) || bytes[1] != '.')
		return bytes[3] * 100u + bytes[2];
	return is_digit(bytes[2]) && bytes[3] == '.'
		       ? (bytes[0] - '0') * 100u + (bytes[2] - '0')
		       : 0;
}

/* ------------------------------------------- versions without a symbol */

/* Two numbers with a point between, or one; 0: there is none. */
static unsigned version_in(const char *text, const char *end)
{
	unsigned numbers[2] = {0};

	for (size_t i = 0; i < 2; i++) {
		if (text == end || !is_digit((uint8_t)*text))
			return 0;
		while (text < end && is_digit((uint8_t)*text) &&
		       numbers[i] < 100)
			numbers[i] = numbers[i] * 10u +
				     (unsigned)(*text++ - '0');
		if (text == end || *text != '.')
			break;
		text++;
	}
	return numbers[1] < 100 ? numbers[0] * 100u + numbers[1] : 0;
}

/* The version behind words in a file. 0: not there, or it cannot be read. */
static unsigned version_behind(const char *path, const char *words, size_t most)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *bytes, *at = NULL;
	unsigned version = 0;
	struct stat st;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    (size_t)st.st_size <= most) {
		size_t size = (size_t)st.st_size;

		bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED) {
			at = memmem(bytes, size, words, strlen(words));
			if (at)
				version = version_in(at + strlen(words),
						     bytes + size);
			(void)munmap((void *)(uintptr_t)bytes, size);
		}
	}
	close(fd);
	return version;
}

/* The version of a JVM. Its folder, some folders above the library, has a file
 * "release". */
static unsigned version_released(const char *path, const char *words)
{
	char *folder = swz_duplicate(path), *slash;
	unsigned version = 0;

	for (unsigned up = 0;
	     !version && up < MOST_FOLDERS && (slash = strrchr(folder, '/'));
	     up++) {
		char *release;

		*slash = '\0';
		release = swz_print("%s/release", folder);
		version = version_behind(release, words, MOST_RELEASE);
		free(release);
	}
	free(folder);
	return version;
}

static unsigned version_told(const struct swz_interpreter *interpreter,
			     const struct swz_interpreter_file *file)
{
	uint8_t bytes[VERSION_BYTES];
	unsigned version;
	size_t size;

	if (interpreter->version) {
		/* (a number may be the last of its section) */
		size = file->reads(file->context, interpreter->version, bytes,
				   sizeof(bytes));
		if (size < sizeof(bytes))
			size = file->reads(file->context, interpreter->version,
					   bytes, 4);
		return version_of(bytes, size);
	}
	if (!file->path)
		return 0;
	if (interpreter->release)
		return version_released(file->path, interpreter->release);
	version = version_behind(file->path, interpreter->before, MOST_FILE);
	return version ? version + 100u * interpreter->lower : 0;
}

char *swz_interpreter_unknown_version(const struct swz_interpreter *interpreter,
				      const struct swz_interpreter_file *file)
{
	unsigned version;

	if (!interpreter->newest)
		return NULL;
	version = version_told(interpreter, file);
	if (!version ||
	    (version >= interpreter->oldest && version <= interpreter->newest &&
	     version != interpreter->without[0] &&
	     version != interpreter->without[1]))
		return NULL;
	/* (the first Javas are 1.x) */
	return interpreter->release && version >= 200
		       ? swz_print("%u", version / 100)
		       : swz_print("%u.%u", version / 100, version % 100);
}
