# Writes a C (or C++) program of COUNT functions with random arguments and
# results, each of which prints what it is given and what it returns, as
# `swizzle-dump -f calls` shows it.
#     generate_signatures.py COUNT SEED [WITHOUT-TYPE] >program.c
import random
import sys

count, seed = int(sys.argv[1]), int(sys.argv[2])
chance = random.Random(seed)


def whole(low, high):
    return lambda: str(chance.randint(low, high))


def quarter():
    return str(chance.randint(-400, 400) / 4)


# name: (its values, how it is printed: a function of the expression)
def simple(form, cast=''):
    return lambda e: f'printf("{form}", {cast}({e}));'


TYPES = {
    'signed char': (whole(-128, 127), simple('%d')),
    'unsigned char': (whole(0, 255), simple('%u')),
    'short': (whole(-32768, 32767), simple('%d')),
    'unsigned short': (whole(0, 65535), simple('%u')),
    'int': (whole(-2**31 + 1, 2**31 - 1), simple('%d')),
    'unsigned': (whole(0, 2**32 - 1), simple('%u')),
    'long': (lambda: whole(-2**62, 2**62)() + 'L', simple('%ld')),
    'unsigned long': (lambda: whole(0, 2**64 - 1)() + 'UL', simple('%lu')),
    'bool': (lambda: chance.choice(['true', 'false']),
             lambda e: f'printf("%s", ({e}) ? "true" : "false");'),
    'char': (lambda: f"'{chance.choice('abcXYZ019')}'",
             lambda e: f'printf("\'%c\'", ({e}));'),
    'float': (quarter, simple('%g', '(double)')),
    'double': (quarter, simple('%g')),
    'long double': (lambda: quarter() + 'L', simple('%Lg')),
    'void *': (lambda: f'(void *){chance.choice([0, 4660, 74565])}',
               lambda e: f'if ({e}) printf("0x%lx", (unsigned long)({e})); '
                         'else printf("NULL");'),
    'const char *': (lambda: chance.choice(['"text"', '""', '0', '"a \\"b\\""']),
                     lambda e: f'print_text({e});'),
    'enum colour': (lambda: chance.choice(['RED', 'GREEN', 'BLUE']),
                    lambda e: f'printf("%s", colour_names[{e}]);'),
    'struct pair': (lambda: f'make_pair({whole(-99, 99)()}, {whole(-99, 99)()})',
                    lambda e: f'printf("{{a = %d, b = %d}}", ({e}).a, ({e}).b);'),
    'struct mixed': (lambda: f'make_mixed({quarter()}, {whole(-99, 99)()})',
                     lambda e: f'printf("{{x = %g, y = %ld}}", ({e}).x, ({e}).y);'),
    'struct floats': (lambda: f'make_floats({quarter()}, {quarter()}, {quarter()})',
                      lambda e: f'printf("{{f = %g, g = %g, h = %g}}", (double)({e}).f, '
                                f'(double)({e}).g, (double)({e}).h);'),
    'struct large': (lambda: f'make_large({whole(-9, 9)()}, {whole(-9, 9)()}, '
                             f'{whole(-9, 9)()})',
                     lambda e: f'printf("{{p = %ld, q = %d, r = %ld}}", ({e}).p, ({e}).q, '
                               f'({e}).r);'),
    'struct bits': (lambda: f'make_bits({whole(-4, 3)()}, {whole(0, 31)()}, '
                            f'{whole(0, 1)()})',
                    lambda e: f'printf("{{i = %d, j = %u, k = %u}}", ({e}).i, ({e}).j, '
                              f'({e}).k);'),
    '__int128': (lambda: f'make_wide({whole(-2**31, 2**31)()}L, {whole(0, 2**63)()}UL)',
                 lambda e: f'print_wide({e});'),
}

print('''#include <stdbool.h>
#include <stdio.h>

enum colour { RED, GREEN, BLUE };
static const char *const colour_names[] = {"RED", "GREEN", "BLUE"};
struct pair { int a, b; };
struct mixed { double x; long y; };
struct floats { float f, g, h; };
struct large { long p; int q; long r; };
struct bits { int i : 3; unsigned j : 5; unsigned k : 1; };
static inline struct pair make_pair(int a, int b) { struct pair s = {a, b}; return s; }
static inline struct mixed make_mixed(double x, long y) { struct mixed s = {x, y}; return s; }
static inline struct floats make_floats(float f, float g, float h)
{ struct floats s = {f, g, h}; return s; }
static inline struct large make_large(long p, int q, long r)
{ struct large s = {p, q, r}; return s; }
static inline struct bits make_bits(int i, unsigned j, unsigned k)
{ struct bits s = {0, 0, 0}; s.i = i; s.j = j; s.k = k; return s; }
static inline __int128 make_wide(long high, unsigned long low)
{ return (__int128)((unsigned __int128)high << 64 | low); }
__attribute__((noinline)) static void print_wide(__int128 value)
{
	char digits[48], *at = digits + 47;
	bool negative = value < 0;
	unsigned __int128 left = negative ? -(unsigned __int128)value
					  : (unsigned __int128)value;

	*at = 0;
	do *--at = (char)('0' + (int)(left % 10)); while (left /= 10);
	if (negative) *--at = '-';
	printf("%s", at);
}
__attribute__((noinline)) static void print_text(const char *s)
{
	if (!s) { printf("NULL"); return; }
	putchar('"');
	for (; *s; s++) { if (*s == '"') putchar('\\\\'); putchar(*s); }
	putchar('"');
}
''')
names = [name for name in TYPES if name not in sys.argv[3:]]
calls = []
for i in range(count):
    arguments = [chance.choice(names) for _ in range(chance.randint(0, 12))]
    result = chance.choice(names)
    values, show = TYPES[result]
    head = ', '.join(f'{t} v{k}' for k, t in enumerate(arguments)) or 'void'
    print(f'__attribute__((noinline)) {result} function{i}({head})\n{{')
    print(f'\t{result} result = {values()};\n\tprintf("function{i}'
          + ('(' if arguments else '') + '");')
    for k, t in enumerate(arguments):
        print(f'\tprintf("{", " if k else ""}v{k} = "); {TYPES[t][1](f"v{k}")}')
    print('\tprintf("%s");' % (') = ' if arguments else ' = '))
    print(f'\t{show("result")}\n\tputchar(10);\n\treturn result;\n}}')
    calls.append(f'\tfunction{i}(' + ', '.join(TYPES[t][0]() for t in arguments) + ');')
print('int main(void)\n{')
print('\n'.join(calls))
print('\treturn 0;\n}')
