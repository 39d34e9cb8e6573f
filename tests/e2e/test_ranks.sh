# shellcheck shell=bash
# MPI programs under OpenMPI and MPICH: profiles by rank, how functions differ
# between ranks. (Columns, and sums of ranks: tests/unit/test_dump_by.c.)
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_built "$RUN" "$DUMP"
need python3

sum_is_same() { # DIRECTORY: figures by rank of its sum
	rm -rf sum
	"$DUMP" -q --merge-into sum "$1"
	"$DUMP" -q -n 0 -f csv --by function,rank "$1" | sort >by-profiles
	"$DUMP" -q -n 0 -f csv --by function,rank sum | sort >by-sum
	assert_contains by-profiles ',rank 0,rank 1,rank 2,rank 3,'
	assert_same by-profiles by-sum
}

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

	it "$mpi: MPI calls are counted; the sum of the ranks has the figures of each"
	"$DUMP" -q -f csv $mpi | awk -F, '$7 ~ /^(MPI_(Allreduce|Sendrecv)|main|step)$/ {
		print $1, $7 }' | sort >calls
	printf '%s\n' '1600 MPI_Sendrecv' '4 main' '800 MPI_Allreduce' '800 step' |
		assert_same calls /dev/stdin
	"$DUMP" -q -f table --by rank $mpi >table
	assert_matches table ' uneven  *rank  *calls  function'
	assert_matches table ' MPI_Allreduce  libmpi'
	sum_is_same $mpi

	mode=sample scope=()
	# (of MPI's own functions, which wait busily, a trace would be long)
	[ $mpi = openmpi ] || mode=trace scope=(-M "heat.$mpi")
	it "$mpi: -m $mode"
	capture "${launch[@]}" "$RUN" -q -m $mode "${scope[@]}" -o "$mpi-$mode/" "./heat.$mpi"
	assert_status 0
	assert_eq "$(cat expected)" "$(sort -u out)" "output of $mode"
	sum_is_same $mpi-$mode

	it "$mpi: the page has a heat map"
	if have "$mpi: the heat map" chromium; then
		shown=$mpi # one time of profiles, one time of their sum
		[ $mpi = openmpi ] || shown=sum
		sum_is_same $mpi
		timeout 200 python3 "$TOP/tests/html/check.py" "$DUMP" $shown ranks \
			>check 2>&1 || fail "$(cat check)"
	fi
done

finish
