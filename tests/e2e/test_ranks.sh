# shellcheck shell=bash
# MPI programs under OpenMPI and MPICH: profiles by rank, how functions differ
# between ranks.
. "${BASH_SOURCE%/*}/lib.sh"
need_built "$RUN" "$DUMP"
need python3
cat >check.py <<'END'
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
END

look() { # DIRECTORY: what the tables by rank say of four ranks
	"$DUMP" -q -n 0 -f csv --by rank "$1" >spread.csv
	"$DUMP" -q -n 0 -f csv --by function,rank "$1" >cells.csv
	"$DUMP" -q -n 0 -f json --by rank "$1" >spread.json
	capture python3 check.py spread.csv cells.csv spread.json
	assert_status 0
	assert_empty err
}

calls="('MPI_Allreduce', 800) ('MPI_Sendrecv', 1600) ('exchange', 800)"
calls="$calls ('main', 4) ('step', 800)"
for mpi in openmpi mpich; do
	have "$mpi" mpicc.$mpi mpirun.$mpi || continue
	mpicc.$mpi -g -O2 "$TOP/tests/e2e/heat.c" -o heat.$mpi || abort 'no program'
	launch=(timeout 120 "mpirun.$mpi" -n 4)
	variable=PMI_RANK
	if [ $mpi = openmpi ]; then
		launch+=(--allow-run-as-root --oversubscribe)
		variable=OMPI_COMM_WORLD_RANK
	fi
	capture "${launch[@]}" "./heat.$mpi"
	assert_status 0
	mv out expected

	it "$mpi: four ranks have a profile each, named after it"
	capture "${launch[@]}" "$RUN" -q --imports -M "heat.$mpi" \
		-o "$mpi/%h.%q{$variable}" "./heat.$mpi"
	assert_status 0
	assert_same expected out
	assert_eq "$(uname -n).0 $(uname -n).1 $(uname -n).2 $(uname -n).3 " \
		"$(find $mpi -type f -printf '%f\n' | sort | tr '\n' ' ')" names
	for rank in 0 1 2 3; do
		"$DUMP" -f info "$mpi/$(uname -n).$rank" >info
		grep -qx "rank: $rank of 4" info || fail "rank $rank: $(cat info)"
	done

	it "$mpi: figures by rank are those of the ranks; MPI calls are counted"
	look $mpi
	assert_eq "$calls" "$(cat out)" calls

	it "$mpi: tables for people and for text"
	"$DUMP" -q -f table --by rank $mpi >table
	grep -q ' uneven  *rank  *calls  function' table || fail "$(cat table)"
	grep -q ' MPI_Allreduce  libmpi' table || fail "$(cat table)"
	"$DUMP" -q -f text --by rank -s incl $mpi >text
	assert_eq "$(python3 -c '
import csv
rows = [r for r in csv.DictReader(open("spread.csv")) if r["function"] == "main"]
print(*(rows[0][k] for k in ("calls", "incl_ns", "incl_min_ns", "incl_mean_ns",
      "incl_max_ns", "incl_imbalance_percent", "incl_max_rank")))')" \
		"$(awk '$8 == "main" { print $1, $2, $3, $4, $5, $6, $7 }' text)" 'text'

	it "$mpi: -m sample and -m trace"
	for mode in sample trace; do
		capture "${launch[@]}" "$RUN" -q -m $mode -o "$mpi-$mode/" \
			"./heat.$mpi"
		assert_status 0
		assert_eq "$(cat expected)" "$(sort -u out)" "output of $mode"
		"$DUMP" -q -f csv --by function,rank $mpi-$mode >cells.csv
		assert_contains cells.csv ',rank 0,rank 1,rank 2,rank 3,'
	done

	it "$mpi: the page has a heat map"
	if have "$mpi: the heat map" chromium; then
		timeout 200 python3 "$TOP/tests/html/check.py" "$DUMP" $mpi ranks \
			>check 2>&1 || fail "$(cat check)"
	fi
done

it 'other rows by rank; several processes of a rank are added up'
for rank in 0 1 2 3; do
	PMI_RANK=$rank PMI_SIZE=4 "$RUN" -q -o alone/ sh -c 'perl -e 1; perl -e 2'
done
assert_eq 12 "$(find alone -type f | wc -l)" files
look alone
for key in module file line; do
	"$DUMP" -q -n 0 -f csv --by $key,rank alone >cells.csv
	assert_eq "0 $("$DUMP" -q -n 0 -f csv --by $key alone | awk -F, '
		NR > 1 { s += $2 } END { printf "%.0f", s }')" "$(awk -F, '
		NR > 1 { s += $1; if ($1 != $2 + $3 + $4 + $5) bad++ }
		END { printf "%.0f %.0f", bad, s }' cells.csv)" "by $key,rank"
done

it 'processes without a rank are left out, and that is said'
"$RUN" -q -o alone/ true
capture "$DUMP" -f csv --by rank alone
assert_status 0
assert_contains err '1 process has no rank and is left out'
"$RUN" -q -o none/ true
capture "$DUMP" --by rank none
assert_status 1
assert_contains err 'no process here has a rank'

it 'wrong keys'
for key in rank,function function,line rank,rank; do
	capture "$DUMP" --by $key alone
	assert_status 2
done
finish
