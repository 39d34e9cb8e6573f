#include "profile/support/interpreters.h"

#include <stddef.h>

static const struct swz_interpreter interpreters[] = {
	{"Py_BytesMain", "Python", true, NULL},
	{"Py_Main", "Python", true, NULL}, /* before 3.8 */
	{"_ZN4node5StartEiPPc", "JavaScript", true,
	 "--perf-basic-prof --interpreted-frames-native-stack"},
	{"JNI_CreateJavaVM", "Java", true,
	 "-XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions "
	 "-XX:+DumpPerfMapAtExit"},
	{"php_execute_script", "PHP", true,
	 "-d opcache.enable_cli=1 -d opcache.jit_buffer_size=32M "
	 "-d opcache.jit=function -d opcache.jit_debug=16"},
	{"luaJIT_setmode", "Lua", false, NULL},
	{"ruby_run_node", "Ruby", true, NULL},
	{"lua_pcallk", "Lua", false, NULL}, /* 5.2 and later */
	{"lua_pcall", "Lua", false, NULL},
	{"perl_run", "Perl", false, NULL},
	{"Tcl_EvalObjv", "Tcl", false, NULL},
	{"parse_and_execute", "shell scripts", false, NULL}, /* bash */
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
