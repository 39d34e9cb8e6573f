#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	lua_State *state = luaL_newstate();

	luaL_openlibs(state);
	if (argc > 1 && luaL_dofile(state, argv[1])) {
		printf("%s\n", lua_tostring(state, -1));
		return 1;
	}
	return 0;
}
