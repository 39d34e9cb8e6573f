#include "profile/support/interpreters.h"

#include <stddef.h>

static const struct swz_interpreter interpreters[] = {
	{"Py_BytesMain", "Python", true, NULL, NULL},
	{"Py_Main", "Python", true, NULL, NULL}, /* before 3.8 */
	{"_ZN4node5StartEiPPc", "JavaScript", true,
	 "--perf-basic-prof --interpreted-frames-native-stack", NULL},
	{"JNI_CreateJavaVM", "Java", true,
	 "-XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions "
	 "-XX:+DumpPerfMapAtExit",
	 NULL},
	{"php_execute_script", "PHP", true,
	 "-d opcache.enable_cli=1 -d opcache.jit_buffer_size=32M "
	 "-d opcache.jit=function -d opcache.jit_debug=16",
	 NULL},
	{"luaJIT_setmode", "Lua", false, NULL, NULL},
	{"ruby_run_node", "Ruby", true, NULL, NULL},
	{"lua_pcallk", "Lua", false, NULL, "lua_pcallk"}, /* 5.2 and later */
	{"lua_pcall", "Lua", false, NULL, "lua_pcall"},
	{"perl_run", "Perl", false, NULL, NULL},
	{"Tcl_EvalObjv", "Tcl", false, NULL, NULL},
	{"parse_and_execute", "shell scripts", false, NULL, NULL}, /* bash */
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
