# shellcheck shell=bash
# Names of profiles by host and variables, in all modes; what a profile knows of
# the place of its process among others.
. "${BASH_SOURCE%/*}/lib.sh"
need_built "$RUN" "$DUMP"
host=$(uname -n)
for name in OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMIX_RANK PMI_RANK PMI_SIZE \
	SLURM_PROCID SLURM_NTASKS SLURM_JOB_ID OTEL_SERVICE_NAME; do
	unset $name
done
work='for (1..2000000) { $x += $_ }'

info() { # LABEL PROFILE
	"$DUMP" -q -f info "$2" | sed -n "s/^$1: //p"
}

for mode in profile trace sample both; do
	it "-m $mode: %h, %q{VARIABLE} and %p make the name, and directories"
	mkdir $mode
	SLURM_PROCID=7 SLURM_NTASKS=12 SLURM_JOB_ID=99 OTEL_SERVICE_NAME='a b' \
		capture "$RUN" -q -m $mode -o "$mode/%h/%q{SLURM_PROCID}-%q{HOME}x.%p" \
		perl -e "$work print \$\$"
	assert_status 0
	file=$(find $mode -type f ! -name '*.samples*')
	pid=$(cat out)
	[ $mode != both ] || pid=${file##*.} # it ran twice
	assert_eq "$(printf '%s/%s/7-%sx.%s' $mode "$host" "$HOME" "$pid" |
		tr -s /)" "$(printf %s "$file" | tr -s /)" name
	it "-m $mode: the profile knows host, rank, job and service"
	[ -s "$file" ] || abort 'no profile'
	assert_eq "$host/7 of 12/99/a b" "$(info host "$file")/$(info rank \
		"$file")/$(info job "$file")/$(info service.name "$file")" labels
done
assert_eq 1 "$(find both -name '*.samples' | wc -l)" 'the sampled run'
assert_eq '7 of 12' "$(info rank "$(find both -name '*.samples')")" 'its rank'

it "launchers of MPI come before Slurm's variables; what is no number is none"
SLURM_PROCID=1 PMI_RANK=2 PMIX_RANK=3 OMPI_COMM_WORLD_RANK=4 "$RUN" -q -o a true
assert_eq 4 "$(info rank a)" all
SLURM_PROCID=1 PMI_RANK=2 PMIX_RANK=3 OMPI_COMM_WORLD_RANK='' "$RUN" -q -o a true
assert_eq 3 "$(info rank a)" PMIX
SLURM_PROCID=1 PMI_RANK=2 "$RUN" -q -o a true
assert_eq 2 "$(info rank a)" PMI
SLURM_PROCID=1 PMI_RANK=-2 "$RUN" -q -o a true
assert_eq 1 "$(info rank a)" Slurm
SLURM_PROCID=1000000000000 "$RUN" -q -o a true
assert_eq '' "$(info rank a)" 'too large'

it 'a forked child has the labels, too'
PMI_RANK=5 "$RUN" -q -o forked/ perl -e 'if (fork) { wait } else { exit 3 }'
assert_eq 2 "$(find forked -type f | wc -l)" files
for file in forked/*; do
	assert_eq "$host 5" "$(info host "$file") $(info rank "$file")" "$file"
done

it 'a variable that is missing, and a name that is wrong, end it before the start'
for wrong in '%q{NO_SUCH}.%p' '%q{EMPTY}' '%q' '%q{' '%q{}' '%qHOME'; do
	EMPTY='' capture "$RUN" -o "new/$wrong" touch started
	assert_status 2
	assert_contains err "swizzle: -o new/$wrong: "
	[ ! -e started ] && [ ! -e new ] || fail "$wrong: something was made"
done
capture "$RUN" -o '%q{NO_SUCH}' touch started
assert_contains err 'the variable NO_SUCH is not set'
capture "$RUN" -m sample -o '%q{NO_SUCH}' touch started
assert_status 2
[ ! -e started ] || fail 'it was started'

it 'values are not looked into again; other % stay'
KEY='%h%q{HOME}' capture "$RUN" -q -o 'as%q{KEY}%d%%' true
assert_status 0
[ -s 'as%h%q{HOME}%d%%' ] || fail "$(ls)"

it 'a directory with such a name is no pattern'
mkdir '%h%q{X}'
(cd '%h%q{X}' && "$RUN" -q -o here true && [ -s here ]) || fail 'not there'

it 'the library alone does it, too, and the program runs in any case'
KEY=seven SWIZZLE_OUTPUT='%h.%q{KEY}.alone' LD_PRELOAD=$LIBSWIZZLE \
	capture perl -e 'print 1'
assert_eq 1 "$(cat out)" output
assert_eq 1 "$(find . -name "$host.seven.alone.*" | wc -l)" files
SWIZZLE_OUTPUT='%h.%q{NO_SUCH}.none' LD_PRELOAD=$LIBSWIZZLE capture perl -e 'print 1'
assert_status 0
assert_eq 1 "$(cat out)" output
assert_contains err '%q{NO_SUCH}: the variable is not set'
assert_eq 0 "$(find . -name '*none*' | wc -l)" files
it 'swizzle-dump follows no link at a name that it makes itself'
"$RUN" -q -m trace -o traced true
pid=$(info pid traced)
mkdir secret
for pair in callgrind:callgrind.out.$pid "html:swizzle.$pid.html" \
	"sqlite:swizzle.$pid.sqlite" "calls-html:swizzle.$pid.calls.html" \
	"archive:swizzle.$pid.swz"; do
	name=${pair#*:}
	echo precious >secret/file
	ln -s secret/file "$name"
	capture "$DUMP" -q -f "${pair%%:*}" traced
	assert_status 0
	assert_eq "precious/regular file 600" \
		"$(cat secret/file)/$(stat -c '%F %a' "$name")" "$name"
done
ln -s secret "swizzle.$pid.calls"
capture "$DUMP" -q -f calls-html -F '*' --file-per-invocation traced
assert_status 1
assert_contains err "cannot write swizzle.$pid.calls: Not a directory"
assert_eq file "$(ls secret)" 'in the folder behind the link'
ln -s secret/file given
capture "$DUMP" -q -f callgrind -o given traced
grep -q ^events: secret/file || fail 'a name that is given leads to its file'

it 'a copy of a profile, a sum and a page are for their owner only'
umask 022
for format in archive html calls-html graph sqlite; do
	"$DUMP" -q -f $format -o "made.$format" traced
	assert_eq 600 "$(stat -c %a "made.$format")" $format
done
"$DUMP" -q --merge-into sum traced
assert_eq 600 "$(stat -c %a sum)" --merge-into
"$DUMP" -q -f text -o made.text traced
assert_eq 644 "$(stat -c %a made.text)" text
chmod 640 made.html
"$DUMP" -q -f html -o made.html traced
assert_eq 640 "$(stat -c %a made.html)" 'the permissions that it had'
finish
