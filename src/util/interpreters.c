#include "util/interpreters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

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
	 .options = "-XX:+PreserveFramePointer "
		    "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit",
	 .command = "jcmd %d Compiler.perfmap"}, /* JDK 17 and later */
	{.symbol = "php_execute_script",
	 .language = "PHP",
	 .sampled = true,
	 .options = "-d opcache.enable_cli=1 -d opcache.jit_buffer_size=32M "
		    "-d opcache.jit=function -d opcache.jit_debug=16"},
	{.symbol = "luaJIT_setmode", .language = "Lua"},
	{.symbol = "ruby_run_node",
	 .language = "Ruby",
	 .sampled = true,
	 .oldest = 207,
	 .newest = 303,
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
	bool (*defines)(void *context, const char *symbol), void *context)
{
	for (size_t i = 0; i < sizeof(interpreters) / sizeof(*interpreters);
	     i++)
		if (defines(context, interpreters[i].symbol))
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

char *swz_interpreter_unknown_version(const struct swz_interpreter *interpreter,
				      size_t (*reads)(void *context,
						      const char *symbol,
						      void *into, size_t size),
				      void *context)
{
	uint8_t bytes[VERSION_BYTES];
	unsigned version;
	size_t size;

	if (!interpreter->newest)
		return NULL;
	/* (a number may be the last of its section) */
	size = reads(context, interpreter->version, bytes, sizeof(bytes));
	if (size < sizeof(bytes))
		size = reads(context, interpreter->version, bytes, 4);
	version = version_of(bytes, size);
	return !version || (version >= interpreter->oldest &&
			    version <= interpreter->newest &&
			    version != interpreter->without[0] &&
			    version != interpreter->without[1])
		       ? NULL
		       : swz_print("%u.%u", version / 100, version % 100);
}
