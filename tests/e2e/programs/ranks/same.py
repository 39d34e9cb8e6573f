# FORMAT PROFILES SUM: the same but for how many files and threads there were. (Of
# functions with the same name the one that was read later has its address behind
# it, and stands behind the other.)
import json, re, sys
a, b = (re.sub('@[0-9a-f]+', '', open(path).read()) for path in sys.argv[2:])
if sys.argv[1] == 'json':
    a, b = json.loads(a), json.loads(b)
    for table in a, b:
        del table['profiles'], table['threads']
        table['rows'].sort(key=str)
    assert a['rows'] and a['columns']
else:
    a, b = a.splitlines(), b.splitlines()
    if sys.argv[1] == 'table':
        a, b = a[a.index(''):], b[b.index(''):]
    a.sort(), b.sort()
    assert len(a) > 1
assert a == b, [(x, y) for x, y in zip(a, b) if x != y][:5]
