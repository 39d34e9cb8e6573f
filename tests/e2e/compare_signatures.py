# What was shown of calls against what the program printed of them: a value that
# is left out is no mistake, with all arguments behind it. Prints how many calls
# are whole.
#     compare_signatures.py EXPECTED GOT
import re
import sys


def read(path):
    lines = [line.rstrip('\n') for line in open(path)]
    return {re.match(r'function\d+', line)[0]: line for line in lines}


expected, got = read(sys.argv[1]), read(sys.argv[2])
whole = 0
for name, line in got.items():
    truth = expected[name]
    if line == truth:
        whole += 1
        continue
    arguments, result = re.fullmatch(r'(function\d+\(?.*?)\)?(?: = ([^=]*))?', line).groups()
    if not truth.startswith(arguments) or (result and not truth.endswith(' = ' + result)):
        sys.exit(f'shown:   {line}\nprinted: {truth}')
print(whole)
