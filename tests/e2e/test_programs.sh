# shellcheck shell=bash
# Real programs, as they are shipped: same output and status as without us, and
# nearly all of their functions hooked.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need perl # which is one of them, and makes the tables below
export HOME=$TMP GIT_CONFIG_NOSYSTEM=1 PYTHONDONTWRITEBYTECODE=1

# What the profiles say about their modules: at least 95 % of the functions of
# each larger module patched, and each refusal has its reason.
check_modules() { # PROFILE...
	local profile
	for profile; do
		assert_readable "$profile"
		perl -e '
			my ($in, $module, $functions, $patched, $refused, $reasons);
			sub done {
				return unless defined $module;
				print "$module: $patched patched and $refused refused of $functions\n"
					if $patched + $refused != $functions;
				print "$module: $refused refused, reasons for $reasons\n"
					if $refused != $reasons;
				print "$module: only $patched of $functions patched\n"
					if $functions > 50 &&
						$patched < 0.95 * ($functions - $short);
			}
			while (<STDIN>) {
				if (/^module +functions +patched +refused/) { $in = 1; next }
				next unless $in;
				last if /^\s*$/;
				next if /^not in scope: /;
				if (/^\s+(.*)\s(\d+)$/) {
					$reasons += $2;
					$short = $2 if $1 =~ /too short for a jump/;
					next;
				}
				done();
				($module, $functions, $patched, $refused) =
					/^(.*?) +(\d+) +(\d+) +(\d+)$/ or print "strange: $_";
				$reasons = $short = 0;
			}
			done();
			print "no table\n" unless $in;
		' <"$TMP/readable.info" >"$TMP/coverage"
		[ ! -s "$TMP/coverage" ] || fail "modules of $profile:
$(excerpt "$TMP/coverage")"
	done
}

# same NAME COMMAND...: in a shell of its own, native and profiled. The
# command sees $prefix: empty, or swizzle-run with a directory for profiles.
same() { # NAME SCRIPT
	local native
	it "$1"
	rm -rf d work
	mkdir work
	# shellcheck disable=SC2034 # the script uses it
	(cd work && prefix='' && eval "$2") >native.out 2>native.err </dev/null
	native=$?
	rm -rf work
	mkdir work
	# shellcheck disable=SC2034
	(cd work && prefix="$RUN -o $TMP/d/ --" && eval "$2") \
		>out 2>err </dev/null
	assert_eq $native $? 'exit status'
	assert_same native.out out
	assert_same native.err err
	[ -n "$(ls d 2>/dev/null)" ] || fail 'no profile'
	# those of the first processes are enough
	# shellcheck disable=SC2046
	check_modules $(find d -name 'swizzle.out.*' | sort | head -n "${FILES:-3}")
}

has() {
	command -v "$1" >/dev/null || echo "$1 is not there" >>absent
	command -v "$1" >/dev/null
}

program script.py >script.py

PYTHON=$(ls /usr/bin/python3 2>/dev/null || command -v python3)
if [ -n "$PYTHON" ]; then
	same 'python: generators, exceptions, threads, processes' \
		'$prefix $PYTHON ../script.py'
	same 'python: an exception that nobody catches' \
		'$prefix $PYTHON -c "import os; os.nothing"'
fi

if has gdb; then
	same 'gdb with its python' \
		"\$prefix gdb -nx -batch -ex 'python print(1)' -ex 'info line main' /bin/true"
	if [ -x "$TARGETS/shape" ]; then
		# the debugger is profiled, the program in it runs natively, of which a
		# line tells
		same 'gdb on a process' \
			'$prefix "${GDB[@]}" -ex "set startup-with-shell off" -ex "unset environment LD_PRELOAD" -ex "set disable-randomization on" -ex "break gamma_" -ex run -ex bt -ex delete -ex continue $TARGETS/shape 2>&1 | sed "s/process [0-9]*/process N/; /^swizzle: .* is not profiled: /d"'
	fi
fi

if has git; then
	export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
	# shellcheck disable=SC2016
	FILES=6 same 'git: init, commit, clone, log, gc' '
		git="$prefix git -c init.defaultBranch=main -c gc.auto=0"
		mkdir r && cd r && $git init -q . || exit
		for i in 1 2 3 4 5; do
			seq $i 500 >file$i; $git add . && $git commit -q -m "number $i" || exit
		done
		$git log --oneline --stat
		$git diff HEAD~3 --stat
		$git gc -q
		cd .. && $git clone -q r c && cd c && $git log --format="%H %s" && $git fsck
		$git checkout -q nothing_of_that_name'
fi

if has sqlite3; then
	same 'sqlite3' '$prefix sqlite3 base.db "create table t(a integer primary key, b text);
		with recursive n(i) as (select 1 union all select i+1 from n where i < 5000)
		insert into t select i, hex(i * i) from n;
		create index i on t(b);
		select count(*), sum(length(b)), max(b) from t where b like \"%3%\";
		select * from nothing;"'
fi

same 'perl' '$prefix perl -e '\''
	my %h = map { $_ => $_ ** 2 } 1 .. 2000;
	my $s = join ",", sort { $h{$a} <=> $h{$b} } grep { /7/ } keys %h;
	$s =~ s/(\d+)/<$1>/g;
	eval { die { code => 7 } }; print $@->{code}, "\n";
	print length($s), "\n", `echo from sh`;
	local $SIG{ALRM} = sub { die "alarm\n" };
	eval { alarm 1; select(undef, undef, undef, 5); }; print $@;
	exit 9'\'

if has cmake && has make; then
	# shellcheck disable=SC2016
	FILES=2 same 'cmake: configure and build' '
		mkdir p && echo "int main(void) { return 0; }" >p/main.c
		printf "%s\n" "cmake_minimum_required(VERSION 3.10)" "project(p C)" \
			"add_executable(p main.c)" >p/CMakeLists.txt
		$prefix cmake -S p -B b >log 2>&1; echo $?
		grep -v "^-- .*done\( .*\)*\$" log | grep -v Detecting
		LD_PRELOAD= make -s -C b 2>&1 | grep -v Built; b/p; echo $?
		$prefix cmake -S nowhere -B c >/dev/null 2>&1'
fi

if has openssl; then
	same 'openssl: digests' 'seq 100000 | $prefix openssl dgst -sha512'
	same 'openssl: a cipher' 'seq 100000 | $prefix openssl enc -aes-256-cbc -K 00 -iv 00 2>/dev/null | cksum'
	same 'openssl: keys' '
		$prefix openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -quiet -out key 2>/dev/null ||
		$prefix openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out key 2>/dev/null
		seq 100 >text
		$prefix openssl dgst -sha256 -sign key -out signed text
		$prefix openssl pkey -in key -pubout -out public
		$prefix openssl dgst -sha256 -verify public -signature signed text'
fi

if has xz; then
	same 'xz with threads' 'seq 400000 >text; $prefix xz -T2 --block-size=300KiB -k text; cksum text.xz; $prefix xz -dc text.xz | cksum; $prefix xz -d nothing'
fi

if has bash; then
	same 'bash' '$prefix bash -c "f() { local i; for i in {1..300}; do x=\$((x + i)); done; }; f; echo \$x; (exit 3); echo \$?; kill -TERM \$\$"'
fi

[ ! -s absent ] || cat absent
finish
