"""control_at_random.py CTL DUMP PID SEED STOP: asks a profiled process, in random
order, to start, to stop, for snapshots and marks, until the file STOP is there.

Each snapshot must be readable. Ends with status 1 at the first thing that is wrong.
"""

import os
import random
import subprocess
import sys


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
        if os.path.exists(stop):
            break
        # (marks have so much room)
        if result.returncode and 'no room for a mark' not in result.stderr:
            sys.exit(f'{what}: {result.stderr}')
        done += 1
        if what == 'snapshot':
            result = run(dump, '-q', '-f', 'text', snapshot)
            if result.returncode:
                sys.exit(f'{snapshot}: {result.stderr}')
    print(done)


main(*sys.argv[1:])
