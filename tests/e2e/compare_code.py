"""compare_code.py PID: whether what a process executes is what its files have.

Leaves out libswizzle.so, which writes to itself. Says how many mappings were
compared; exits 1 where one differs.
"""

import sys


def main(pid):
    count = wrong = 0
    with open(f'/proc/{pid}/mem', 'rb') as memory, \
            open(f'/proc/{pid}/maps', encoding='utf-8') as maps:
        for line in maps:
            fields = line.split(None, 5)
            if len(fields) < 6 or 'x' not in fields[1]:
                continue
            path = fields[5].rstrip('\n')
            if not path.startswith('/') or 'libswizzle' in path:
                continue
            start, end = (int(word, 16) for word in fields[0].split('-'))
            memory.seek(start)
            there = memory.read(end - start)
            with open(path, 'rb') as file:
                file.seek(int(fields[2], 16))
                wanted = file.read(end - start)
            wanted += bytes(len(there) - len(wanted))
            count += 1
            if there == wanted:
                continue
            wrong += 1
            for at, (a, b) in enumerate(zip(there, wanted)):
                if a != b:
                    print(f'{path}: differs first at {start + at:#x}')
                    break
    print(f'{count} texts compared')
    return 1 if wrong or not count else 0


sys.exit(main(int(sys.argv[1])))
