/* build: -g -fno-optimize-sibling-calls '-Wl,-rpath,$ORIGIN' */
#define NAME(name) other_##name
#include "liblate.c"
