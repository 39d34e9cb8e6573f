# shellcheck shell=bash
# MPI programs under OpenMPI and MPICH: profiles by rank, how functions differ
# between ranks.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_built "$RUN" "$DUMP"
need python3
program check.py >check.py

look() { # DIRECTORY: what the tables by rank say of four ranks
	"$DUMP" -q -n 0 -f csv --by rank "$1" >spread.csv
	"$DUMP" -q -n 0 -f csv --by function,rank "$1" >cells.csv
	"$DUMP" -q -n 0 -f json --by rank "$1" >spread.json
	capture python3 check.py spread.csv cells.csv spread.json
	assert_status 0
	assert_empty err
}

program same.py >same.py

sum_is_same() { # DIRECTORY OPTION...: figures by rank of its sum
	local from=$1 by format formats
	local keys=(rank 'function,rank' 'module,rank')
	shift
	# (of samples a sum knows functions, no lines)
	[[ $from = *-sample ]] || keys+=('file,rank')
	for by in "${keys[@]}"; do
		formats=csv
		[ "$by" = rank ] && formats='csv json table'
		for format in $formats; do
			"$DUMP" -q -n 0 -f "$format" --by "$by" "$@" "$from" >by-profiles
			"$DUMP" -q -n 0 -f "$format" --by "$by" "$@" sum >by-sum
			python3 same.py $format by-profiles by-sum >why 2>&1 ||
				fail "--by $by: $(cat why)"
		done
	done
}

calls="('MPI_Allreduce', 800) ('MPI_Sendrecv', 1600) ('exchange', 800)"
calls="$calls ('main', 4) ('step', 800)"
export UCX_LOG_LEVEL=fatal # it misses /sys where there is none, with time and process
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

	it "$mpi: the sum of the ranks has the figures of each"
	rm -rf sum
	capture "$DUMP" --merge-into sum $mpi
	assert_status 0
	sum_is_same $mpi
	"$DUMP" -f info sum | grep -qx 'times by rank: of 4, 4 profiles' ||
		fail "$("$DUMP" -f info sum)"

	it "$mpi: -m sample and -m trace"
	for mode in sample trace; do
		# (of MPI's own functions, which wait busily, a trace would be long)
		scope=()
		[ $mode = sample ] || scope=(-M "heat.$mpi")
		capture "${launch[@]}" "$RUN" -q -m $mode "${scope[@]}" -o "$mpi-$mode/" \
			"./heat.$mpi"
		assert_status 0
		assert_eq "$(cat expected)" "$(sort -u out)" "output of $mode"
		"$DUMP" -q -f csv --by function,rank $mpi-$mode >cells.csv
		assert_contains cells.csv ',rank 0,rank 1,rank 2,rank 3,'
		rm sum
		"$DUMP" -q --merge-into sum $mpi-$mode
		sum_is_same $mpi-$mode
	done

	it "$mpi: the page has a heat map"
	if have "$mpi: the heat map" chromium; then
		timeout 200 python3 "$TOP/tests/html/check.py" "$DUMP" $mpi ranks \
			>check 2>&1 || fail "$(cat check)"
		rm sum
		"$DUMP" -q --merge-into sum $mpi
		timeout 200 python3 "$TOP/tests/html/check.py" "$DUMP" sum ranks \
			>check 2>&1 || fail "of the sum: $(cat check)"
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

it 'a sum has the figures of its ranks, in whatever order they were added'
need_targets workers running
for rank in 0 1 2 3; do
	PMI_RANK=$rank "$RUN" -q -o alone/ "$TARGETS/workers" >/dev/null
done
PMI_RANK=7 "$RUN" -q -o alone/ "$TARGETS/running" >/dev/null
rm -f sum
"$DUMP" -q --merge-into sum alone
sum_is_same alone
sum_is_same alone -F 'Perl_*' -s incl
sum_is_same alone --tid workers
rm sum
files=(alone/*)
"$DUMP" -q --merge-into a "${files[@]::4}"
"$DUMP" -q --merge-into b "${files[@]:9}"
"$DUMP" -q --merge-into b "${files[@]:4:5}"
"$DUMP" -q --merge-into sum b a
sum_is_same alone
"$DUMP" -q --merge-into sum alone a
sum_is_same alone
mkdir mixed
cp "${files[@]:3}" mixed
"$DUMP" -q --merge-into mixed/sum "${files[@]::3}"
mv sum whole
mv mixed sum
sum_is_same alone
mv whole sum.whole
rm -r sum
mv sum.whole sum

it 'a sum with ranks: what cannot be is said'
capture "$DUMP" --by rank -N main sum
assert_status 1
assert_contains err 'times of ranks by function alone'
program break.py >break.py
cp sum broken
python3 break.py broken 0
capture "$DUMP" --by rank broken
assert_status 1
assert_contains err 'broken: damaged; its times by rank cannot be read'
capture "$DUMP" --merge-into new broken
assert_status 1
assert_contains err 'broken: damaged; its times by rank cannot be read: left out'
capture "$DUMP" --merge-into broken "${files[0]}"
assert_status 1
"$DUMP" -q -n 0 -f csv sum >expected
"$DUMP" -q -n 0 -f csv broken | assert_same expected /dev/stdin
"$DUMP" -f raw -n 0 sum >raw
grep -q ': RANKS (14)' raw || fail 'RANKS'
grep -q 'thread 0 function 0: 0 calls, self' raw || fail 'RANK_COSTS'
grep -q '^  !' raw && fail 'problems'

it 'a damaged sum: ranks have functions that no thread has'
python3 - sum strange <<'END' || abort 'no damaged sum'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
at, strange = 4096, 0
while at + 64 <= len(data):
    _, kind, size = struct.unpack_from('<IIQ', data, at)
    for node in range(at + 64, at + size, 64) if kind == 5 else ():
        function, = struct.unpack_from('<I', data, node)
        if 0 < function < 0xfffffff0:
            struct.pack_into('<I', data, node, 0xffffffff)
            strange += 1
    at += size
open(sys.argv[2], 'wb').write(data)
sys.exit(strange < 10)
END
for format in text csv json; do
	capture "$DUMP" -q -f $format --by rank strange
	assert_status 0
	assert_empty err
done

it 'a sum without such chunks, of one rank, has that one'
rm sum
"$DUMP" -q --merge-into sum "${files[0]}"
"$DUMP" -q -n 0 -f csv --by rank sum >expected
python3 break.py sum 99
"$DUMP" -q -n 0 -f csv --by rank sum | assert_same expected /dev/stdin
"$DUMP" -q --merge-into again sum
"$DUMP" -q -n 0 -f csv --by rank again | assert_same expected /dev/stdin

it 'processes without a rank are left out, and that is said'
"$RUN" -q -o alone/ true
capture "$DUMP" -f csv --by rank alone
assert_status 0
assert_contains err '1 process has no rank and is left out'
rm sum
"$DUMP" -q --merge-into sum alone
capture "$DUMP" -f csv --by rank sum
assert_contains err '1 process has no rank and is left out'
sum_is_same alone
assert_eq "$("$DUMP" -q -f csv alone | awk -F, '{ s += $2 } END { printf "%.0f", s }')" \
	"$("$DUMP" -q -f csv sum | awk -F, '{ s += $2 } END { printf "%.0f", s }')" total
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
