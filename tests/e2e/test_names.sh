# shellcheck shell=bash
# The name that is shown is the name that patterns take: aliases, what other
# languages mangle, names with parameters, names made up. (What is printed of them:
# tests/unit/test_dump_names.c.)
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc g++ gfortran nm

export XDG_CACHE_HOME=$TMP/cache
mkdir "$XDG_CACHE_HOME"

it 'a function has the names of all symbols at its address'
program aliases.c >aliases.c
gcc -O1 -fno-ipa-icf -o aliases aliases.c || abort 'no program'
for symbol in second_name public_name hidden_name; do
	nm aliases | awk -v name=$symbol '$3 == name { print $1 }'
done | sort -u >addresses
assert_eq 1 "$(wc -l <addresses)" 'addresses of three names'

# Calls of what the three names stand for, and of `other`.
counts() { # PROFILE [OPTION...]
	dump_table "$@"
	awk '!/^#/ && $NF == "aliases" && $4 ~ /_name$/ { n += $1 }
		!/^#/ && $4 == "other" { o += $1 } END { print n + 0, o + 0 }' \
		table
}
"$RUN" -o whole ./aliases
assert_eq '100 50' "$(counts whole)" 'calls'
# the cache holds plans from the second round on
for round in cold warm; do
	for name in second_name public_name hidden_name 'h*_name' '[ps]ub*_name'; do
		"$RUN" -o profile -H "$name" ./aliases 2>err
		assert_eq '0 50' "$(counts profile)" "-H $name, $round"
		assert_empty err
		"$RUN" -o profile -N "$name" ./aliases 2>err
		assert_eq '0 50' "$(counts profile)" "-N $name, $round"
		assert_empty err
		"$RUN" -o profile -F "$name" ./aliases 2>err
		assert_eq '100 0' "$(counts profile)" "-F $name, $round"
		assert_empty err
		"$RUN" -o profile -H '*' -H "!$name" ./aliases 2>err
		assert_eq '100 0' "$(counts profile)" "-H !$name, $round"
		assert_empty err
		assert_eq '100 0' "$(counts whole -F "$name")" "dump -F $name"
		"$DUMP" -f folded -H "$name" whole >folded 2>err
		assert_empty err
		assert_contains folded other
		assert_not_contains folded _name
	done
done

it 'a pattern that matches nothing is named, with a cache too'
for round in cold warm; do
	for option in -F -N -H; do
		capture "$RUN" -o profile $option nonesuch $option main ./aliases
		assert_status 0
		assert_eq "swizzle: $option 'nonesuch' matches no function (of what is loaded at the start)" \
			"$(cat err)" "$option, $round"
	done
done
capture "$RUN" -o profile -M 'nonesuch*' -M '*' ./aliases
assert_eq "swizzle: -M 'nonesuch*' matches no module (of what is loaded at the start)" \
	"$(head -n 1 err)"
assert_matches err '^swizzle: -M: there are: aliases, .*libc[.]so[.]6'
assert_eq 2 "$(wc -l <err)" lines
gcc -g -O1 -fno-ipa-icf -o with-lines aliases.c || abort 'no program'
capture "$RUN" -o profile -L nonesuch.c -L aliases.c ./with-lines
assert_eq "swizzle: -L 'nonesuch.c' matches no source file (of what is loaded at the start)" \
	"$(cat err)"
capture "$RUN" --list -H nonesuch ./aliases
assert_contains err "-H 'nonesuch' matches no function"
capture "$RUN" -q -o profile -H nonesuch ./aliases
assert_empty err

it 'a program behind a symbolic link has both names, and is shown as it was called'
cp aliases real-name
ln -s real-name called-name
modules_of() { # PROFILE: of functions with a name in csv
	"$DUMP" -q -f csv "$1" | awk -F , '/_name/ { print $8 }' | sort -u
}
for pattern in real-name called-name "$TMP/real-name" "$TMP/called-name"; do
	capture "$RUN" -o linked -M "$pattern" ./called-name
	assert_status 0
	assert_empty err
	assert_eq called-name "$(modules_of linked)" "-M $pattern"
done
"$RUN" -q -o linked -M '!called-name' ./called-name
assert_eq '' "$(modules_of linked)" "-M !called-name"
"$RUN" -q -o linked ./real-name
assert_eq real-name "$(modules_of linked)" 'by its own name'
assert_not_contains <("$DUMP" -f info linked) called:
"$RUN" -q -o named/ sh -c './real-name; ./called-name'
assert_eq real-name "$(modules_of named)" 'of several names its own'
ln -s "$(command -v perl)" my-perl
printf '#!%s/my-perl\n$x += $_ for 1..$ARGV[0]\n' "$TMP" >script
chmod +x script
for mode in profile sample; do
	# samples come late where others have the processors
	"$RUN" -q -m $mode -o linked ./script "$([ $mode = sample ] && echo 20000000 || echo 1000)"
	"$DUMP" -q -f text linked >out
	assert_matches out ' my-perl$'
	assert_eq 'called: my-perl' "$("$DUMP" -f info linked | grep ^called:)" "$mode"
done

it 'malloc is malloc, however libc calls it'
cat >allocates.c <<'END'
#include <stdlib.h>
int main(void) { for (int i = 0; i < 20; i++) free(malloc(8)); return 0; }
END
gcc -O1 -fno-builtin -o allocates allocates.c || abort 'no program'
"$RUN" -o profile -M '*' -F malloc ./allocates 2>err
assert_empty err
assert_ge "$(calls_of profile malloc)" 20 'calls of malloc'
assert_eq 0 "$(calls_of profile main)" 'calls of main with -F malloc'
"$RUN" -o profile -M '*' -H malloc ./allocates 2>err
assert_empty err
assert_eq '0 1' "$(calls_of profile malloc) $(calls_of profile main)" \
	'calls of malloc and main with -H malloc'
for name in malloc __libc_malloc; do
	"$RUN" -o profile --imports -H $name ./allocates 2>err
	assert_empty err
	dump_table profile
	assert_eq '20 0' \
		"$(($(row table calls free) + 0)) $(($(row table calls malloc) + 0))" \
		"imports without $name"
done

# The functions of PROGRAM in `table`, by the names that are shown.
names_of() { # PROGRAM
	awk -v program="$1" '!/^#/ && $NF == program && $4 != "[outside]" {
		sub(/^ *[0-9]+ +[0-9]+ +[0-9]+  /, ""); sub(/  [^ ]*$/, ""); print
	}' table | sort
}

# Hides each function of PROGRAM by the name that is shown: nothing else is gone. Half of them
# at a time, those whose number has a bit or has it not: of two functions each is once hidden
# where the other is not.
hide_each() { # PROGRAM LEAST
	local program=$1 names patterns i bit has options round
	"$RUN" -o whole "./$program" >/dev/null 2>err
	assert_empty err
	dump_table whole
	names_of "$program" >names
	mapfile -t names <names
	# what shells read as sets is meant as it is
	mapfile -t patterns < <(sed 's/\[/[[]/g; s/\*/[*]/g' names)
	assert_ge ${#names[@]} "$2" "names of $program"
	for ((bit = 1; bit <= ${#names[@]}; bit *= 2)); do
		for has in 0 1; do
			: >left
			options=()
			for i in "${!names[@]}"; do
				# the first of several subprograms of gnat's has the name of all
				if (((i & bit) / bit == has)) && [ "${names[i]}" != shapes.over ]; then
					options+=(-H "${patterns[i]}")
				else
					echo "${names[i]}" >>left
				fi
			done
			for round in cold warm; do
				"$RUN" -o profile "${options[@]}" "./$program" >/dev/null 2>err
				assert_empty err
				dump_table profile
				# (the last of several of one name is shown without parameters)
				assert_same <(sed 's/([^()]*)//g' left | sort) \
					<(names_of "$program" | sed 's/([^()]*)//g' | sort)
			done
		done
	done
	for i in "${!names[@]}"; do
		[ "${names[i]}" != shapes.over ] || continue
		"$DUMP" -f text -F "${patterns[i]}" whole >table 2>err
		assert_empty err
		assert_eq 1 "$(grep -c "  $program\$" table)" "rows with ${names[i]}"
	done
}

it 'C++'
program cxx.cc >cxx.cc
g++ -O1 -o cxx cxx.cc || abort 'no program'
hide_each cxx 14
for name in 'shop::box<int>::add<5>' 'shop::over(int)' 'shop::over(long)'; do
	assert_contains names "$name"
done
# one name of the program, without template arguments, is all of them
"$RUN" -o profile -H 'shop::box::add' ./cxx
dump_table profile
assert_not_contains table 'add<'
assert_contains table 'shop::box<int>::box'

it 'static functions of one name'
cat >one.c <<'END'
static volatile int sum;
__attribute__((noinline)) static void work(int n) { sum += n; }
void NAME(int n) { work(n); }
END
echo 'void a(int); void b(int); int main(void) { a(1); b(2); return 0; }' >main.c
gcc -O1 -c -DNAME=a -o a.o one.c && gcc -O1 -c -DNAME=b -o b.o one.c &&
	gcc -O1 -o statics main.c a.o b.o || abort 'no program'
# (work is one function with two addresses)
"$RUN" -o whole ./statics
dump_table whole
name=$(awk '$4 ~ /^work@/ { print $4 }' table)
assert_eq 1 "$(grep -c '  work  ' table)" 'rows of work'
assert_ne '' "$name" 'the other work'
"$RUN" -o profile -H "$name" ./statics 2>err
assert_empty err
assert_calls profile work 1 a 1 b 1

it 'of functions of one name the first of the module has the plain name, in all formats'
echo 'void a(int); void b(int);
int main(void) { b(1); b(2); b(3); a(4); return 0; }' >later.c
gcc -O1 -o later later.c a.o b.o || abort 'no program'
"$RUN" -q -o profile ./later
for format in text tree callgrind json folded; do
	"$DUMP" -q -f $format -o "profile.$format" profile
done
first=$(nm later | awk '$3 == "work" { print $1 }' | sort | head -n 1)
second=$(nm later | awk '$3 == "work" { print $1 }' | sort | tail -n 1)
assert_ne "$first" "$second" 'two functions'
second=$(printf 'work@%x' "$((0x$second))")
assert_eq 1 "$(awk '$4 == "work" { print $1 }' profile.text)" 'calls of the first'
assert_eq 3 "$(awk -v name="$second" '$4 == name { print $1 }' profile.text)" \
	'calls of the second'
for format in tree callgrind json folded; do
	assert_contains "profile.$format" "$second"
done
assert_matches profile.folded 'b;work@'
assert_matches profile.folded 'a;work '

it 'no name controls a terminal, a line, or the direction of a text'
cat >odd.c <<'END'
volatile int n;
__attribute__((noipa)) void inner(void) { n++; }
__attribute__((noipa)) void formula(void) { inner(); n++; }
int main(void) { for (int i = 0; i < 100000; i++) formula(); return 0; }
END
odd=$'esc\e[31m\anl\nc1\xc2\x9brlo\xe2\x80\xaebad\xffend'
gcc -O1 -o plain odd.c &&
	objcopy --redefine-sym inner="$odd" --redefine-sym formula='=cmd(1)' plain odd ||
	abort 'no program'
capture "$RUN" --list -v ./odd
assert_contains out ' esc?[31m?nl?c1?rlo?bad?end'
capture "$RUN" "./${odd/$'\n'/}"
assert_eq 'swizzle: ./esc?[31m?nlc1?rlo?bad?end: not found' "$(cat err)" 'not found'
sed 's/100000/60000000/' odd.c >long.c
gcc -O1 -o plain long.c && objcopy --redefine-sym inner="$odd" plain odd || abort 'no program'
"$BUILD/bin/swizzle-top" -b -d 0.1 -- ./odd >out
assert_contains out 'esc?[31m?nl?c1?rlo?bad?end  odd'

it 'functions without a symbol'
gcc -O1 -s -o stripped main.c a.o b.o || abort 'no program'
hide_each stripped 4
assert_matches names '^sub_'

# Nothing but symbols tells which compiler made a function.
it 'D, gfortran and gnat, by their symbols'
program mangled.c >mangled.c
gcc -O1 -fno-ipa-icf -DLANGUAGES -o mangled mangled.c || abort 'no program'
hide_each mangled 11
sort >expected <<'END'
D main
shapes.round.plain
shapes.round.over(int)
shapes.round.over(long)
shapes.round.twice!(int).twice
geometry::area
dgemm
shapes.area
shapes.over
shapes.over#2
shapes."+"
main
END
sed -i '/^D main$/d' expected
assert_same expected names
"$RUN" -o profile -H shapes.over ./mangled
dump_table profile
assert_not_contains table shapes.over
assert_contains table shapes.area
# the symbols as they are, and patterns of what is shown
for pattern in shapes__over__2 'shapes.*2' dgemm_ 'd?emm'; do
	"$RUN" -o profile -H "$pattern" ./mangled 2>err
	assert_empty err
	assert_eq 1 "$(("$(grep -c . names)" - $("$DUMP" -f text profile |
		grep -c '  mangled$')))" "functions hidden by $pattern"
done
# C may have such names, too
gcc -O1 -fno-ipa-icf -o plain mangled.c || abort 'no program'
hide_each plain 11
for name in dgemm_ shapes__area shapes__over__2 shapes.round.plain \
	geometry::area; do
	assert_contains names "$name"
done
capture "$RUN" -o profile -H dgemm -H shapes.area ./plain
assert_eq 2 "$(grep -c 'matches no function' err)" 'messages'

it 'what gfortran makes'
program geometry.f90 >geometry.f90
gfortran -O1 -fno-inline -o fortran geometry.f90 || abort 'no program'
"$RUN" -o profile ./fortran
assert_calls profile geometry::area 10 outside 10
for name in 'geometry::*' outside outside_ __geometry_MOD_area; do
	"$RUN" -o profile -F "$name" ./fortran 2>err
	assert_empty err
	dump_table profile
	assert_eq 1 "$(grep -c '  fortran$' table)" "rows with -F $name"
	assert_contains table '  10  '
done

finish
