# Writes a Fortran program of COUNT procedures with random arguments and results,
# each of which prints what it is given and what it returns, as
# `swizzle-dump -f calls` shows it. With --helpers: the C functions that print.
#     generate_fortran.py COUNT SEED >program.f90
#     generate_fortran.py --helpers >helpers.c
import random
import sys

if sys.argv[1] == '--helpers':
    print('''#include <stdio.h>
#include <string.h>
void put_(const char *s, size_t n) { fwrite(s, 1, n, stdout); }
void put_integer_(const long long *n) { printf("%lld", *n); }
void put_real_(const double *x) { printf("%g", *x); }
void put_complex_(const double z[2]) { printf("{re = %g, im = %g}", z[0], z[1]); }
void put_logical_(const int *b) { printf("%s", *b ? "true" : "false"); }
void put_text_(const char *s, size_t n) { printf("\\"%.*s\\"", (int)n, s); }
void put_line_(void) { putchar('\\n'); }
void start_(void) { setvbuf(stdout, NULL, _IOFBF, 1 << 20); }
void finish_(void) { fflush(stdout); }''')
    sys.exit()

count, seed = int(sys.argv[1]), int(sys.argv[2])
chance = random.Random(seed)


def whole(kind, bits):
    return lambda: f'{chance.randint(-2**(bits - 1) + 1, 2**(bits - 1) - 1)}_{kind}'


def quarter(kind):
    return lambda: f'{chance.randint(-400, 400) / 4}_{kind}'


def text(length):
    return "'" + ''.join(chance.choice('abc xyz') for _ in range(length)) + "'"


def integer(e):
    return f'call put_integer(int({e}, 8))'


def real(e):
    return f'call put_real(real({e}, 8))'


def logical(e):
    return f'call put_logical(logical({e}, 4))'


# declaration: its values, how it is printed
TYPES = {
    'integer(1)': (whole(1, 8), integer),
    'integer(2)': (whole(2, 16), integer),
    'integer(4)': (whole(4, 32), integer),
    'integer(8)': (whole(8, 64), integer),
    'real(4)': (quarter(4), real),
    'real(8)': (quarter(8), real),
    'complex(4)': (lambda: f'({quarter(4)()}, {quarter(4)()})', lambda e: f'call put_complex(cmplx({e}, kind=8))'),
    'complex(8)': (lambda: f'({quarter(8)()}, {quarter(8)()})', lambda e: f'call put_complex({e})'),
    'logical(1)': (lambda: chance.choice(['.true._1', '.false._1']), logical),
    'logical(4)': (lambda: chance.choice(['.true.', '.false.']), logical),
}
ARGUMENTS = dict(TYPES)
for name in 'integer(4)', 'integer(8)', 'real(8)', 'real(4)', 'logical(4)':
    ARGUMENTS[name + ', value'] = TYPES[name]
ARGUMENTS['character(len=*)'] = (lambda: text(chance.randint(1, 20)), lambda e: f'call put_text({e})')
ARGUMENTS['character(len=5)'] = (lambda: text(5), lambda e: f'call put_text({e})')
ARGUMENTS['type(point)'] = (
    lambda: f'point({whole(4, 32)()}, {quarter(8)()})',
    lambda e: f"call put('{{x = ')\n    {integer(e + '%x')}\n    call put(', y = ')\n    {real(e + '%y')}\n    call put('}}')")
RESULTS = dict(TYPES)
RESULTS['character(len=7)'] = (lambda: text(7), lambda e: f'call put_text({e})')


def put(words):
    return f"    call put('{words}')"


print('''module procedures
  implicit none
  type point
    integer(4) :: x
    real(8) :: y
  end type
contains''')
calls = []
for i in range(count):
    arguments = [chance.choice(list(ARGUMENTS)) for _ in range(chance.randint(0, 9))]
    result = chance.choice(list(RESULTS))
    names = ', '.join(f'v{k}' for k in range(len(arguments)))
    print(f'  function function{i}({names}) result(r)')
    for k, t in enumerate(arguments):
        print(f'    {t} :: v{k}')
    print(f'    {result} :: r\n    r = {RESULTS[result][0]()}')
    print(put(f'function{i}' + ('(' if arguments else '')))
    for k, t in enumerate(arguments):
        print(put(f'{", " if k else ""}v{k} = '))
        print('    ' + ARGUMENTS[t][1](f'v{k}'))
    print(put(') = ' if arguments else ' = '))
    print('    ' + RESULTS[result][1]('r'))
    print('    call put_line()\n  end function')
    calls.append((i, result, ', &\n      '.join(ARGUMENTS[t][0]() for t in arguments)))
print('end module\nprogram main\n  use procedures\n  implicit none')
for kind in RESULTS:
    print(f'  {kind} :: r_{"".join(c for c in kind if c.isalnum())}')
print('  call start()')
for i, result, values in calls:
    print(f'  r_{"".join(c for c in result if c.isalnum())} = function{i}({values})')
print('  call finish()\nend program')
