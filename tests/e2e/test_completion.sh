# shellcheck shell=bash
# What bash, zsh and fish offer when a command line is completed: options, their
# values, threads of a profile, and what belongs to the profiled program. The
# shells really run; what is right is what the tools say themselves.
. "${BASH_SOURCE%/*}/lib.sh"
SWTOP=$BUILD/bin/swizzle-top
SWCTL=$BUILD/bin/swizzle-ctl
SHARE=$BUILD/share
need_built "$RUN" "$DUMP" "$SWTOP" "$LIBSWIZZLE"
need zsh fish awk script
more=/usr/share/bash-completion/bash_completion
[ -e $more ] || skip "needs $more, which is not there"

# The completions of zsh and fish ask the tools by their names.
export PATH=$BUILD/bin:$PATH HOME=$TMP TERM=dumb

# --- the shells: the last word is being typed, the offers come sorted ------------

bash_offers() { # WORD...
	"$BASH" -c '
		. "$1"
		shift
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		function=$(complete -p "${1##*/}" | sed "s/.*-F \([^ ]*\) .*/\1/")
		$function 2>/dev/null
		printf "%s\n" "${COMPREPLY[@]}"
	' bash "$SHARE/bash-completion/completions/${1##*/}" "$@" | sort
}

# With the package bash-completion, which knows the programs' own completions.
bash_offers_more() { # WORD...
	"$BASH" -c '
		. "$1" >/dev/null 2>&1
		[ ! -e "$2/$3" ] || . "$2/$3"
		shift 2
		complete -p "$1" >/dev/null 2>&1 || _completion_loader "$1"
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		COMP_LINE=${COMP_WORDS[*]}
		COMP_POINT=${#COMP_LINE}
		COMP_TYPE=9
		function=$(complete -p "$1" | sed "s/.*-F \([^ ]*\) .*/\1/")
		$function "$1" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}" 2>/dev/null
		printf "%s\n" "${COMPREPLY[@]}"
	' bash "$more" "$SHARE/bash-completion/completions" \
		"$@" | sort
}

# zsh completes where it edits a line, on a terminal. One zsh does it for all lines:
# to start costs more than to complete. It takes each line for one that is typed, and
# what is given to compadd is the answer, up to a line "end".
mkdir zsh
cat >zsh/.zshrc <<'END'
fpath=($COMPLETIONS $fpath)
autoload -U compinit
compinit -u -D
exec {asked}<$HOME/asked {answers}>$HOME/answers
function compadd {
	local -a hits
	if [[ " $* " == *" -"[OAD]" "* ]]; then
		builtin compadd "$@"
		return
	fi
	builtin compadd -A hits "$@"
	print -rl -u $answers -- $hits
	builtin compadd "$@"
}
function zle-line-init {
	local line
	IFS= read -r -u $asked line || exit
	BUFFER=$line CURSOR=$#line
	zle complete-word
	print -u $answers end
	BUFFER=
	zle accept-line
}
zle -N zle-line-init
END
mkfifo asked answers
COMPLETIONS=$SHARE/zsh/site-functions ZDOTDIR=$TMP/zsh \
	script -qec 'zsh -d -i' /dev/null </dev/null >terminal 2>&1 &
exec 8<>asked 9<>answers

zsh_offers() { # LINE
	local offer
	printf '%s\n' "$1" >&8
	while
		IFS= read -r -t $((60 * PATIENCE)) offer <&9 || {
			fail "zsh did not complete '$1': $(cat terminal)" >&2
			offer=end
		}
		[ "$offer" != end ]
	do
		[ -z "$offer" ] || printf '%s\n' "$offer"
	done | sort -u
}

# Only what begins with the last word: fish 4 also offers what holds its letters in their
# order (--imports for --mo).
fish_offers() { # LINE
	LINE=$1 fish -c "
		source $SHARE/fish/vendor_completions.d/swizzle-run.fish
		source $SHARE/fish/vendor_completions.d/swizzle-dump.fish
		source $SHARE/fish/vendor_completions.d/swizzle-top.fish
		source $SHARE/fish/vendor_completions.d/swizzle-ctl.fish
		complete -C \$LINE" | cut -f1 | WORD=${1##* } awk 'index($0, ENVIRON["WORD"]) == 1' | sort
}

# --- what is to be offered --------------------------------------------------------

# Of the lines in FILE those for which fish does not offer NAME.
fish_lacks() { # FILE NAME
	FILE=$1 NAME=$2 fish -c "
		source $SHARE/fish/vendor_completions.d/swizzle-run.fish
		while read -l line
			complete -C \$line | string match -q -r \"^\$NAME(\\t|\\$)\"
			or echo \$line
		end <\$FILE"
}

long_options() { # TOOL
	"$1" --help=all | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -e '--[a-z-]+'
}

allowed() { # OPTION TOOL: as the tool says when it is given another value
	local mode=()
	case ${2##*/}$1 in swizzle-run--engine | *--event) mode=(--mode sample) ;; esac
	"$2" ${mode[@]+"${mode[@]}"} "$1=no-such-word" true 2>&1 | sed -n 's/.*There are: //p' | sed 's/, /\n/g' | sort
}

# Options whose value is one of some words, and both tools' words.
words_of="$RUN --mode
$RUN --timing
$RUN --imports
$RUN --engine
$RUN --event
$SWTOP --engine
$DUMP --format
$DUMP --sort
$DUMP --demangle
$DUMP --ring-clock
$DUMP --ring-paths
$DUMP --color"

for tool in "$RUN" "$DUMP" "$SWTOP" "$SWCTL"; do
	name=${tool##*/}
	long_options "$tool" | sort -u >"options.$name"
	assert_ge "$(wc -l <"options.$name")" 8 "options of $name"

	it "bash: options of $name"
	bash_offers "$tool" -- | sort -u >offered
	assert_same "options.$name" offered

	it "zsh: options of $name"
	zsh_offers "$name --" | sed 's/=-*$//' | sort -u >offered
	assert_same "options.$name" offered

	it "fish: options of $name"
	fish_offers "$name --" | sed 's/=$//' | sort -u >offered
	assert_same "options.$name" offered
done

while read -r tool option; do
	name=${tool##*/}
	it "values of $option"
	allowed "$option" "$tool" >words
	assert_ge "$(wc -l <words)" 1 "words for $option"
	bash_offers "$tool" "$option" = '' >offered
	assert_same words offered
	bash_offers "$tool" "$option" = >offered
	assert_same words offered
	zsh_offers "$name $option=" >offered
	assert_same words offered
	[ "$option" = --imports ] && continue # its value is optional
	fish_offers "$name $option=" | sed 's/.*=//' >offered
	assert_same words offered
done <<<"$words_of"

it 'commands of swizzle-ctl'
echo detach list mark snapshot start status stop | tr ' ' '\n' >words
bash_offers "$SWCTL" '' >offered
assert_same words offered
zsh_offers 'swizzle-ctl ' >offered
assert_same words offered
fish_offers 'swizzle-ctl ' >offered
assert_same words offered

it 'keys of --by, and columns'
{
	allowed --by "$DUMP"
	echo {function,module,file,line},{thread,process,rank} thread,{parts,files} |
		tr ' ' '\n'
} | sort >words
bash_offers "$DUMP" --by '' >offered
assert_same words offered
zsh_offers 'swizzle-dump --by ' >offered
assert_same words offered
fish_offers 'swizzle-dump --by ' >offered
assert_same words offered

it 'words are completed'
assert_eq 'table text tree' "$(bash_offers "$DUMP" --format t | xargs)"
assert_eq 'table text tree' "$(bash_offers "$DUMP" --format = t | xargs)"
assert_eq 'table text tree' "$(zsh_offers 'swizzle-dump -f t' | xargs)"
assert_eq 'table text tree' "$(fish_offers 'swizzle-dump -f t' | xargs)"
assert_eq '--mode --module' "$(bash_offers "$RUN" --mo | xargs)"
assert_eq '--mode --module' "$(zsh_offers 'swizzle-run --mo' | xargs)"
assert_eq '--mode --module' "$(fish_offers 'swizzle-run --mo' | xargs)"

it 'threads of the profile in the command line, or of the newest one'
"$RUN" -q -o named "$TARGETS/threads" names >/dev/null
"$RUN" -q -o swizzle.out.77 "$TARGETS/fib" >/dev/null
ids() { # FILE
	"$DUMP" -q -f info "$1" | awk '/^ +tid +name/ { on = 1; next }
		/^contexts/ { on = 0 } on && NF { print $1 }' | sort
}
ids named >ids.named
ids swizzle.out.77 >ids.newest
assert_eq 5 "$(wc -l <ids.named)" 'threads'
assert_eq 1 "$(wc -l <ids.newest)" 'threads of the newest'
bash_offers "$DUMP" named --tid '' >offered
grep -x '[0-9]*' offered >numbers
assert_same ids.named numbers
assert_eq 'threads worker-0 worker-1 worker-2 worker-3' "$(grep -vx '[0-9]*' offered | xargs)"
bash_offers "$DUMP" --tid '' | grep -x '[0-9]*' >numbers
assert_same ids.newest numbers
zsh_offers 'swizzle-dump named --tid ' >offered
assert_same ids.named offered
zsh_offers 'swizzle-dump --tid ' >offered
assert_same ids.newest offered
fish_offers 'swizzle-dump named --tid ' >offered
assert_same ids.named offered
fish_offers 'swizzle-dump --tid ' >offered
assert_same ids.newest offered

it 'processes of the profiles in the command line'
pid=$("$DUMP" -f info named | sed -n 's/^pid: //p')
printf '%s\n' "$pid" threads | sort >words
bash_offers "$DUMP" named --process '' >offered
assert_same words offered
zsh_offers 'swizzle-dump named --process ' >offered
assert_same words offered
fish_offers 'swizzle-dump named --process ' >offered
assert_same words offered
assert_eq '' "$(bash_offers "$DUMP" --push '')" 'offers for a URL'

it 'files'
: >swizzle.out.78
assert_eq 'swizzle.out.77 swizzle.out.78' "$(bash_offers "$DUMP" -f text swizzle.o | xargs)"
assert_eq 'swizzle.out.77 swizzle.out.78' "$(zsh_offers 'swizzle-dump -f text swizzle.o' | xargs)"
assert_eq 'swizzle.out.77 swizzle.out.78' "$(fish_offers 'swizzle-dump -f text swizzle.o' | xargs)"
mkdir -p directory/below
assert_eq directory "$(bash_offers "$DUMP" --symfs dir | xargs)"
assert_eq directory "$(zsh_offers 'swizzle-dump --symfs dir' | xargs)"
assert_eq directory/ "$(fish_offers 'swizzle-dump --symfs dir' | xargs)"

# An option's value is not taken for the program.
"$RUN" --help=all | sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z-]+) [A-Z].*/\2/p' >valued
"$RUN" --help=all | sed -nE 's/^ +(-[a-zA-Z]), --[a-z-]+ [A-Z].*/\1/p' >>valued
assert_ge "$(wc -l <valued)" 20 'options with a value'
assert_contains valued --max-memory
assert_contains valued -D
it "the program's name"
while read -r option; do
	assert_matches <(bash_offers "$RUN" "$option" x ca) '^cat$'
done <valued
printf 'swizzle-run %s\n' ca '-v ca' '--imports ca' '--imports=dlsym ca' '--mode=trace ca' \
	'-m trace -- ca' >lines
while read -r line; do
	assert_matches <(zsh_offers "$line") '^cat$'
done <lines
sed 's/.*/swizzle-run & x ca/' valued >>lines
fish_lacks lines cat >lacking
assert_empty lacking
echo 'swizzle-run -o ca' >one # a file's name
assert_eq "$(cat one)" "$(fish_lacks one cat)" 'lines without a command'
while read -r option; do
	assert_matches <(zsh_offers "swizzle-run $option x ca") '^cat$'
done <<<'-m
--max-memory
-F'
assert_matches <(bash_offers "$RUN" --imports ca) '^cat$'
assert_matches <(bash_offers "$RUN" --imports = dlsym ca) '^cat$'

it "the program's arguments are completed as without swizzle-run"
cat >Makefile <<'END'
first: second
	true
second third-one third-two:
	true
END
for line in 'make thi' 'make --dir' 'ls --colo' 'git check' 'sort --rev' 'make -C '; do
	read -ra words <<<"$line"
	[[ $line != *' ' ]] || words+=('')
	bash_offers_more "${words[@]}" >without
	assert_ge "$(grep -c . without)" 1 "offers for '$line'"
	bash_offers_more swizzle-run "${words[@]}" >with
	assert_same without with
	bash_offers_more swizzle-run -m trace -v -- "${words[@]}" >with
	assert_same without with

	zsh_offers "$line" >without
	assert_ge "$(grep -c . without)" 1 "zsh offers for '$line'"
	zsh_offers "swizzle-run -m trace -v $line" >with
	assert_same without with

	fish_offers "$line" >without
	assert_ge "$(grep -c . without)" 1 "fish offers for '$line'"
	fish_offers "swizzle-run -m trace -v -- $line" >with
	assert_same without with
done

it 'files, where bash knows no completions of programs'
assert_eq 'swizzle.out.77 swizzle.out.78' "$(bash_offers "$RUN" -o x cat swizzle.out | xargs)"
assert_eq 'swizzle.out.77 swizzle.out.78' "$(bash_offers "$RUN" --imports = dlsym cat swizzle.out | xargs)"

finish
