"""compare_code.py PID [lasting]: whether what a process executes is what its files
have.

Leaves out libswizzle.so, which writes to itself, and what is unloaded while it
is read. With "lasting": and jumps of five bytes that span two pages. Says how many
mappings were compared; exits 1 where one differs.
"""

import sys


def mappings(pid):
    """Lines of the maps that are code of files."""
    with open(f'/proc/{pid}/maps', encoding='utf-8') as maps:
        for line in maps:
            fields = line.rstrip('\n').split(None, 5)
            if (len(fields) == 6 and 'x' in fields[1] and
                    fields[5].startswith('/') and
                    'libswizzle' not in fields[5]):
                yield line


def spans(there, at):
    """Whether a byte belongs to a jump that spans two pages."""
    return any(there[at - back] == 0xe9 and (at - back) % 4096 > 4096 - 5
               for back in range(min(5, at + 1)))


def difference(memory, line, lasting):
    """What is wrong with a mapping, or None."""
    fields = line.rstrip('\n').split(None, 5)
    start, end = (int(word, 16) for word in fields[0].split('-'))
    try:
        memory.seek(start)
        there = memory.read(end - start)
    except OSError as error:
        return f'{fields[5]}: {error.strerror}'
    with open(fields[5], 'rb') as file:
        file.seek(int(fields[2], 16))
        wanted = file.read(end - start)
    wanted += bytes(len(there) - len(wanted))
    if there == wanted:
        return None
    differ = [at for at, (one, other) in enumerate(zip(there, wanted))
              if one != other]
    if lasting:
        differ = [at for at in differ if not spans(there, at)]
    if not differ:
        return None
    return (f'{fields[5]}: {len(differ)} bytes differ, '
            f'first at {start + differ[0]:#x}')


def main(pid, lasting=None):
    count = wrong = 0
    with open(f'/proc/{pid}/mem', 'rb', buffering=0) as memory:
        for line in list(mappings(pid)):
            problem = difference(memory, line, lasting)
            if problem:
                # another library may be there by now
                if line not in mappings(pid):
                    continue
                problem = difference(memory, line, lasting)
            count += 1
            if problem:
                wrong += 1
                print(problem)
    print(f'{count} texts compared')
    return 1 if wrong or not count else 0


sys.exit(main(int(sys.argv[1]), *sys.argv[2:]))
