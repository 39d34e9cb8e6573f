"""control_at_random.py CTL DUMP PID SEED STOP: asks a profiled process, in random
order, to start, to stop, for snapshots and marks, until the file STOP is there, or
the process has ended.

Prints a line for each that was done. Each snapshot must be readable. Ends with status 1
at the first thing that is wrong.
"""

import os
import random
import subprocess
import sys
import time


def ends(pid):
    """Whether the process has ended, or is about to."""
    time.sleep(1)
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
            return file.read().rpartition(')')[2].split()[0] in 'ZX'
    except OSError:
        return True


def run(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)


def main(ctl, dump, pid, seed, stop):
    choose = random.Random(int(seed))
    done = 0
    while not os.path.exists(stop):
        what = choose.choice(('start', 'stop', 'snapshot', 'mark'))
        snapshot = f'snapshot.{pid}.{seed}'
        argument = {'snapshot': [snapshot], 'mark': [f'mark {done}']}
        result = run(ctl, what, *argument.get(what, []), pid)
        # (marks have so much room)
        if result.returncode and 'no room for a mark' not in result.stderr:
            if os.path.exists(stop) or ends(pid):
                break
            sys.exit(f'{what}: {result.stderr}')
        done += 1
        print(what, flush=True)
        if what == 'snapshot':
            result = run(dump, '-q', '-f', 'text', snapshot)
            if result.returncode:
                sys.exit(f'{snapshot}: {result.stderr}')


main(*sys.argv[1:])
