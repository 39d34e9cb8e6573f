# shellcheck shell=bash
# What `make install` puts in its place: programs that find each other there,
# what other programs look for, and completions that know the options.
. "${BASH_SOURCE%/*}/lib.sh"
need_built "$RUN" "$DUMP" "$LIBSWIZZLE"
need make

unset MAKEFLAGS MAKELEVEL
it 'nothing is compiled when what was built is installed'
capture make -s -C "$TOP" install DESTDIR="$TMP/root" PREFIX="$TMP/prefix" \
	CC=false CXX=false
assert_status 0
prefix=$TMP/root$TMP/prefix

it 'an installed swizzle-run finds its library where distributions put it'
for libdir in lib lib64 lib/x86_64-linux-gnu; do
	capture make -s -C "$TOP" install DESTDIR="$TMP/$libdir.root" PREFIX=/usr \
		LIBDIR=/usr/$libdir CC=false CXX=false
	assert_status 0
	capture "$TMP/$libdir.root/usr/bin/swizzle-run" -q -o "$libdir.profile" true
	assert_status 0
	assert_exists "$libdir.profile"
done

it 'the documents that the manual names are installed, and links lead to files'
documents=$prefix/share/doc/swizzle
for page in $(sed 's/\\-/-/g' "$TOP"/man/* | grep -o 'docs/[a-z/-]*\.md' | sort -u); do
	assert_exists "$documents/$page"
	found_page=yes
done
assert_eq yes "${found_page:-}" 'documents that the manual names'
capture "$TOP/scripts/check-links" "$documents"
assert_status 0

if have 'swizzle.pc' pkg-config; then
	query() {
		PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config "$@" swizzle | xargs
	}
	assert_eq "-I$TMP/prefix/include" "$(query --cflags)"
	assert_eq "$TMP/prefix/lib/libswizzle.so" "$(query --variable=library)"
	assert_eq "$("$DUMP" --version | awk '{ print $2 }')" "$(query --modversion)"
fi

for language in c c++; do
	have "headers for $language" cc c++ || continue
	for header in "$prefix"/include/swizzle.h "$prefix"/include/swizzle/*.h; do
		capture cc -Wall -Werror -fsyntax-only -x $language \
			-I "$prefix/include" "$header"
		assert_status 0
	done
done

it 'manual pages, with all formats'
for page in man1/swizzle-run.1 man1/swizzle-dump.1 man7/swizzle-formats.7; do
	assert_exists "$prefix/share/man/$page"
done
for format in $("$DUMP" -f help | sed 's/ .*//'); do
	assert_matches "$prefix/share/man/man7/swizzle-formats.7" \
		"^\.SH ${format^^}\$"
	assert_matches "$prefix/share/man/man1/swizzle-dump.1" "^\.B $format\$"
done

# What bash offers for a command line; the last word is being typed.
complete_line() { # WORD...
	"$BASH" -c '
		. "$1"
		shift
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		function=$(complete -p "${1##*/}" | sed "s/.*-F \([^ ]*\) .*/\1/")
		$function 2>/dev/null
		printf "%s\n" "${COMPREPLY[@]}"
	' bash "$prefix/share/bash-completion/completions/${1##*/}" "$@" |
		sort | xargs
}

it 'completion of swizzle-dump'
assert_eq "$("$DUMP" -f help | awk '{ print $1 }' | sort | xargs)" \
	"$(complete_line "$DUMP" -f '')"
assert_eq 'table text tree' "$(complete_line "$DUMP" --format t)"
assert_eq 'table text tree' "$(complete_line "$DUMP" --format = t)"
assert_eq 'name' "$(complete_line "$DUMP" -f text -s na)"
assert_eq 'full no simple' "$(complete_line "$DUMP" --demangle =)"
assert_eq '--separate-threads --sort --symfs' "$(complete_line "$DUMP" --s)"
assert_eq '--bottom-up' "$(complete_line "$DUMP" --bot)"
: >swizzle.out.1
: >swizzle.out.2
assert_eq 'swizzle.out.1 swizzle.out.2' "$(complete_line "$DUMP" -f text swizzle.o)"

it 'completion of swizzle-run'
assert_eq '--mode --module' "$(complete_line "$RUN" --mo)"
assert_eq 'exact sampled' "$(complete_line "$RUN" --timing '')"
assert_eq "profile trace" "$(complete_line "$RUN" -m "")"
assert_eq 'swizzle.out.1' "$(complete_line "$RUN" -o x cat swizzle.out.1)"
assert_eq 'swizzle.out.1' "$(complete_line "$RUN" --imports cat -n swizzle.out.1)"
assert_eq 'dlsym' "$(complete_line "$RUN" --imports =)"
assert_eq 'dlsym' "$(complete_line "$RUN" --imports = d)"
assert_eq 'swizzle.out.1' "$(complete_line "$RUN" --imports = dlsym cat swizzle.out.1)"
assert_matches <(complete_line "$RUN" --imports ca | tr ' ' '\n') '^cat$'
assert_eq 'exact sampled' "$(complete_line "$RUN" --timing =)"
assert_matches <(complete_line "$RUN" -o x ca | tr ' ' '\n') '^cat$'

it 'uninstall'
capture make -s -C "$TOP" uninstall DESTDIR="$TMP/root" PREFIX="$TMP/prefix"
assert_status 0
assert_eq '' "$(find "$prefix" -type f)"

finish
