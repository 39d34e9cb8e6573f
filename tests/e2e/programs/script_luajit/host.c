typedef struct lua_State lua_State;
lua_State *luaL_newstate(void);
void luaL_openlibs(lua_State *state);
int luaL_loadfile(lua_State *state, const char *file);
int lua_pcall(lua_State *state, int arguments, int results, int handler);
int main(int argc, char **argv)
{
	lua_State *state = luaL_newstate();

	luaL_openlibs(state);
	return argc < 2 || luaL_loadfile(state, argv[1]) || lua_pcall(state, 0, 0, 0);
}
