# shellcheck shell=bash
# -m sample: the subs of a Perl script, in place of the interpreter's loop: their
# shares, the stacks that the script itself sees, the lines that are executed;
# closures, sort blocks, destructors, evals, exceptions.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/script_shares.sh"
need perl
unset SWIZZLE_MODE
perl -MConfig -e 'exit !($Config{useithreads} && $] >= 5.036 && $] < 5.043)' ||
	skip 'needs Perl 5.36 to 5.42 with threads'
"$RUN" -q -m sample --engine pause -o try perl -e 1 2>err ||
	skip "cannot sample by pauses here: $(cat err)"

SCRIPT=script.pl
cat >script.pl <<'END'
use strict;
my (%own, %stacks);

sub now {
	my @t = times;
	return 1000 * ($t[0] + $t[1]);
}

sub note {
	my ($i, @names) = 1;
	while (my @at = caller $i++) {
		next if $at[3] eq '(eval)' && !defined $at[6];
		unshift @names, $at[3];
	}
	$stacks{join ';', '(main)', @names} = 1;
}

sub spin {
	note() if shift;
	my $s = 0;
	for my $i (1 .. 20000) {
		$s += $i & 3; # HOT
	}
	return $s;
}

sub busy {
	my $end = now() + shift;
	spin(1);
	spin(0) while now() < $end;
}

sub sixty {
	my ($n, $ms) = @_;
	no warnings 'recursion';
	if ($n) { sixty($n - 1, $ms) } else { busy($ms) }
}

package Thing;
sub new { return bless {}, shift }
sub thirty {
	my ($self, $ms) = @_;
	my $closure = sub { main::busy($ms) };
	$closure->();
}
sub DESTROY { main::busy(60) }

package main;
sub ten {
	my $ms = shift;
	eval { die "x\n" };
	if ($@) { eval { busy($ms) } }
}

sub sorting {
	my ($ms, $n) = (shift, 0);
	my @a = sort { busy($ms) if !$n++; $a <=> $b } 3, 1, 2;
}

sub evaluating { my $ms = shift; eval 'busy($ms); 1' or die }

sub mapping { my $ms = shift; my @a = map { busy($ms); $_ } 1 }

sub timed {
	my ($name, $call) = @_;
	my $start = now();
	$call->();
	$own{$name} = now() - $start;
}

timed('main::sixty', sub { sixty(200, 600) });
my $thing = Thing->new;
timed('Thing::thirty', sub { $thing->thirty(300) });
timed('Thing::DESTROY', sub { undef $thing });
timed('main::ten', sub { ten(100) });
timed('main::sorting', sub { sorting(60) });
timed('main::evaluating', sub { evaluating(60) });
timed('main::mapping', sub { mapping(60) });
print "$_ $own{$_}\n" for keys %own;
print "stack $_\n" for keys %stacks;
print 'process ', now(), "\n";
END

it 'shares of subs'
SWIZZLE_SUMMARY=1 "$RUN" -m sample -r 500 -o profile perl script.pl >printed 2>err || fail "exit status $?"
assert_matches err '^swizzle: sampling by pauses .*script.s functions$'
assert_shares main::sixty Thing::thirty main::ten Thing::DESTROY main::sorting main::evaluating main::mapping

it 'the stacks that the script sees'
assert_stacks main::spin 's/(__ANON__):[0-9]+/\1/g'

it 'file and line'
assert_eq "$PWD/script.pl" "$(row main::spin 9)" 'file'
hot=$(grep -n HOT script.pl | cut -d : -f 1)
assert_hot_lines $((hot - 1)) "$hot"

it '--script: the subs alone'
assert_script_alone '^(perl|lib|ld-|\\[vdso)'
