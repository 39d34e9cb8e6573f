# CSV-BY-RANK CSV-BY-FUNCTION,RANK JSON: the figures are those of the cells.
import csv, json, sys
spread = list(csv.DictReader(open(sys.argv[1])))
cells = list(csv.DictReader(open(sys.argv[2])))
table = json.load(open(sys.argv[3]))
ranks = [key for key in cells[0] if key.startswith('rank ')]
assert ranks == ['rank %d' % i for i in range(4)], ranks
assert len(spread) == len(cells) == len(table['rows']) > 5
assert [c['rank'] for c in table['columns']] == [0, 1, 2, 3]
for row, cell, as_json in zip(spread, cells, table['rows']):
    times = [int(cell[rank]) for rank in ranks]
    assert row['function'] == cell['function'] == as_json['function']
    assert times == as_json['cells_ns']
    mean = sum(times) / 4
    expected = [sum(times), min(times), int(mean), max(times),
                times.index(max(times))]
    got = [int(row['self_' + k]) for k in (
        'ns', 'min_ns', 'mean_ns', 'max_ns', 'max_rank')]
    assert got == expected, (row, times)
    if mean:
        assert abs(float(row['self_imbalance_percent']) -
                   100 * (max(times) / mean - 1)) < 0.06, row
    for what in ('self', 'incl'):
        for k in ('ns', 'min_ns', 'mean_ns', 'max_ns', 'max_rank',
                  'imbalance_percent'):
            k = '%s_%s' % (what, k)
            assert float(row[k]) == as_json[k], (k, row, as_json)
        assert int(row[what + '_min_ns']) <= int(row[what + '_mean_ns']) <= \
            int(row[what + '_max_ns'])
    assert int(row['incl_max_ns']) >= int(row['self_max_ns'])
    assert int(row['incl_ns']) <= 4 * int(row['incl_max_ns'])
print(*sorted((r['function'], int(r['calls'])) for r in spread
              if r['function'] in ('MPI_Allreduce', 'MPI_Sendrecv', 'main',
                                   'exchange', 'step')))
