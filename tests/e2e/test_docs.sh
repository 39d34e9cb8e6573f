# shellcheck shell=bash
# What the documents say can be typed: the options of their commands are there, their
# links lead somewhere, and the README's example is what it says.
. "${BASH_SOURCE%/*}/lib.sh"
unset SWIZZLE_MODE # as the user has it
need_built "$RUN" "$DUMP" "$LIBSWIZZLE"

documents=$(cd "$TOP" && find README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md docs \
	-name '*.md')

it 'links lead to files and headings'
capture "$TOP/scripts/check-links"
assert_status 0

it 'each folder of the sources, and each page about them, is listed'
internals=$TOP/docs/internals
folders=0
for folder in "$TOP"/src/*/ "$TOP"/src/runtime/*/; do
	case $folder in
	*/src/runtime/*/) name=$(basename "$folder")/ ;;
	*) name=src/$(basename "$folder")/ ;;
	esac
	assert_matches "$internals/README.md" "^ +$name "
	folders=$((folders + 1))
done
assert_ge "$folders" 15 'folders'
pages=0
for page in "$internals"/*.md; do
	page=$(basename "$page")
	[ "$page" = README.md ] || assert_contains "$internals/README.md" "($page)"
	pages=$((pages + 1))
done
assert_ge "$pages" 20 'pages about the parts'
for page in "$TOP"/docs/*.md; do
	page=$(basename "$page")
	[ "$page" = README.md ] || assert_contains "$TOP/docs/README.md" "($page)"
done

it 'make help is short, and tests/README.md has the other targets'
make -s -C "$TOP" help >help
assert_eq 10 "$(grep -c '^  ' help)" 'targets'
sed -n 's/^\([a-z][a-z-]*\):.*#: .*/\1/p' "$TOP/Makefile" "$TOP/tests/rules.mk" | grep -vx help >others
assert_ge "$(wc -l <others)" 30 'other targets'
while read -r target; do
	assert_contains "$TOP/tests/README.md" "| \`$target\` |"
done <others

it 'the README is short'
assert_le "$(wc -l <"$TOP/README.md")" 200

"$RUN" --help=all >run.options
"$DUMP" --help=all >dump.options
"$BUILD/bin/swizzle-top" --help=all >top.options
"$BUILD/bin/swizzle-ctl" --help=all >ctl.options
# --help is printed from the table by which the tool reads its command line.
it "the manual has each tool's options, with values and without"
for tool in run dump top ctl; do
	sed -nE '/^  (-|    --)/ { s/^ +//; s/  .*//; s/[]=,[]/ /g; p; }' $tool.options >tags
	awk '/^\.TP/ { getline; print }' "$TOP/man/swizzle-$tool.1" |
		sed -n 's/\\-/-/g; s/\\f.//g; s/[]=",[]/ /g; s/\\//g; /^\.[A-Z]* -/p' >manual
	for list in tags manual; do
		awk '{ sub(/^\.[A-Z]+/, "")
			value = / [A-Z]/ ? " VALUE" : ""
			for (i = 1; i <= NF; i++)
				if ($i ~ /^--?[a-zA-Z]/) print $i value }' $list | sort -u >$list.all
	done
	assert_ge "$(wc -l <tags.all)" 10 "options of swizzle-$tool"
	assert_same tags.all manual.all
done

# The options that take an argument of their own: "-o, --output FILE".
sed -n 's/^ *\(-[^ ]*\), \(--[^ =[]*\) [A-Z].*/\1 \2/p
	s/^ *\(--\{0,1\}[A-Za-z-]*\) [A-Z].*/\1/p' run.options | tr ' ' '\n' >run.taking
sed -n 's/^ *\(-[^ ]*\), \(--[^ =[]*\) [A-Z].*/\1 \2/p
	s/^ *\(--\{0,1\}[A-Za-z-]*\) [A-Z].*/\1/p' top.options | tr ' ' '\n' >top.taking

is_option() { # TOOL OPTION: in its help
	local name=${2%%=*}
	case $name in
	--*) grep -q -E -e "(^|[ ,])$name([][ =]|\$)" "$1.options" ;;
	*) grep -q -E -e "^ *${name}[, ]" "$1.options" ;;
	esac
}

is_known() { # TOOL OPTION: also -n5, and the two together
	is_option "$1" "$2" || { [ "${2#--}" = "$2" ] && is_option "$1" "${2:0:2}"; }
}

# TOOL WORD...: the options among the words, up to the program that is run.
check_command() {
	local tool=$1 word value=
	shift
	for word; do
		if [ -n "$value" ]; then
			value=
			continue
		fi
		case $word in
		--) return ;;
		-?*)
			is_known "$tool" "$word" ||
				fail "$file: swizzle-$tool has no option $word"
			checked=$((checked + 1))
			if [ "$tool" != dump ] && grep -q -x -e "$word" "$tool.taking"; then
				value=yes
			fi
			;;
		*) [ "$tool" = dump ] || return ;;
		esac
	done
}

# Commands stand on lines of their own, or in `...`.
it 'commands have options that the programs have'
set -f
commands=0
checked=0
for file in $documents; do
	while read -r tool words; do
		commands=$((commands + 1))
		# shellcheck disable=SC2086 # words are wanted
		check_command "$tool" $words
	done < <(
		{
			grep -E '^    +(\$ )?([A-Z_]*=[^ ]* )?([a-z/]*/)?swizzle-(run|dump|top|ctl) ' \
				"$TOP/$file"
			grep -o -E '`([a-z/]*/)?swizzle-(run|dump|top|ctl) [^`]*`' "$TOP/$file"
		} | sed -e 's/ #.*//' -e 's/[|>;&].*//' -e "s/[\`']//g" -e 's/\\$//' |
			sed -n 's/.*swizzle-\(run\|dump\|top\|ctl\) \(.*\)/\1 \2/p'
	)
done
assert_ge "$commands" 30 'commands in the documents'
assert_ge "$checked" 30 'options of commands'

it 'options that the README names alone are some of these'
found=0
for word in $(grep -o -E '`--[a-z][a-z-]*' "$TOP/README.md" | tr -d '`' | sort -u); do
	found=$((found + 1))
	is_option run "$word" || is_option dump "$word" ||
		fail "README.md: neither program has an option $word"
done
assert_ge "$found" 3 'options in the README'
set +f

it 'the example of the README'
if have 'the example' gcc seq; then
	capture gcc -Wall -Wextra -Werror -g -O2 -pthread -o words \
		"$TOP/docs/example/words.c"
	assert_status 0
	# As one who has the documents would type it.
	ln -s "$TOP/docs" docs
	awk '/^## /{ on = /^## Thirty/ } on && sub(/^    \$ /, "")' "$TOP/README.md" |
		sed 's/  *#.*//' >example
	assert_ge "$(wc -l <example)" 6 'commands of the example'
	while read -r command <&3; do
		capture env PATH="${DUMP%/*}:$PATH" bash -c "$command"
		assert_status 0
		case $command in
		swizzle-run*) assert_matches out '^90000 words, most often: [0-9]+ \(2\)$' ;;
		esac
	done 3<example
	"$DUMP" -f csv slow >table
	assert_eq 120001 "$(awk -F , '$0 ~ /find_word/ {
		for (i = 1; i <= NF; i++) if ($i == 120001) print $i }' table)"
fi

it 'the recipes of the README run as they stand'
if have 'the recipes' gcc make seq; then
	cp words app
	echo 'print(sum(i * i for i in range(100000)))' >script.py
	printf 'all: one two\none two:\n\tseq 1000 >$@\n' >Makefile
	# Not the server's: nobody waits for half a minute here.
	awk '/^## /{ on = /^## Recipes/ } on && /^    /' "$TOP/README.md" |
		sed -e 's/^ *//' -e 's/  *#.*//' |
		grep -v -e '\./server' -e '--from' >recipes
	assert_ge "$(grep -c '^swizzle-' recipes)" 18 'commands in recipes'
	while read -r recipe <&3; do
		capture env PATH="${DUMP%/*}:$PATH" bash -c "$recipe"
		# shellcheck disable=SC2154 # of lib.sh
		case $recipe in
		# what a busy machine does not tell from noise
		*--compare*) [ "$status" -eq 3 ] || assert_status 0 ;;
		*) assert_status 0 ;;
		esac
		case $recipe in
		'swizzle-dump -f tree'*) assert_matches out '  [a-z_]*_(word|lock)  ' ;;
		esac
	done 3<recipes
	# What two of them show on a terminal:
	capture "$DUMP" -f table slow
	assert_matches out ' 120,001  find_word '
	capture "$DUMP" -f text --by process profiles
	assert_ge "$(grep -cE '[ /]seq( 1000)?$' out)" 2 'processes of make'
fi

it 'the demo shows functions by name, the lock, and what a change has brought'
if have 'the demo' gcc seq; then
	capture "$TOP/scripts/demo"
	assert_status 0
	assert_matches out ' 120,001  find_word +words$'
	assert_matches out ' 120,001  pthread_mutex_lock  .* libc'
	assert_matches out ' -[0-9.]+ m?s +(-|-[0-9.]+%) .* 0 +[^ ]+ [mµu]?s  find_word  +words-new$'
	assert_matches out ' incl diff  ?calls diff .* function '
	assert_exists "$TOP/build/demo/words.html"
fi

it 'the demo of another program says its exit status'
capture "$TOP/scripts/demo" "$BASH" -c 'exit 3'
assert_status 0
assert_matches out "^\(the program's exit status: 3\)$"
assert_matches out ' functions?[;.]'

finish
