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
