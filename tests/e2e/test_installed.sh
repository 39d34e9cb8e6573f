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

it 'the licence is there'
assert_same "$TOP/LICENSE" "$prefix/share/doc/swizzle/LICENSE"

it 'the manual says where the documents are'
pages=0
for page in "$prefix"/share/man/man?/*; do
	assert_contains "$page" "$TMP/prefix/share/doc/swizzle/docs"
	pages=$((pages + 1))
done
assert_ge $pages 5 'manual pages'

it 'DESTDIR may hold spaces, and nobody need be able to write there but the installer'
(umask 077 && make -s -C "$TOP" install DESTDIR="$TMP/a root" PREFIX=/usr CC=false CXX=false) \
	>out 2>&1
assert_empty out
capture "$TMP/a root/usr/bin/swizzle-dump" --version
assert_status 0
assert_eq '' "$(find "$TMP/a root/usr" ! -perm -444 -o -type d ! -perm -111)"
capture make -s -C "$TOP" uninstall DESTDIR="$TMP/a root" PREFIX=/usr
assert_status 0
assert_eq '' "$(find "$TMP/a root" -type f)"

it 'a PREFIX that LD_PRELOAD cannot name is refused, before anything is written'
for path in "$TMP/a prefix" "$TMP/a:prefix"; do
	for goal in install uninstall; do
		capture make -s -C "$TOP" $goal PREFIX="$path"
		assert_status 2
		assert_matches err '^swizzle: PREFIX holds a space or a colon, which LD_PRELOAD cannot name'
	done
	assert_missing "$path"
	assert_missing "$TMP/a"
done

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
for page in man1/swizzle-run.1 man1/swizzle-dump.1 man1/swizzle-top.1 man1/swizzle-ctl.1 man7/swizzle-formats.7; do
	assert_exists "$prefix/share/man/$page"
done
if have 'manual pages without a warning of man' man groff col; then
	for page in "$prefix"/share/man/man?/*; do
		MANROFFOPT='' LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l "$page" 2>err | col -b >shown
		assert_empty err
		assert_ge "$(wc -l <shown)" 50 "lines of $page"
	done
fi
for format in $("$DUMP" -f help | sed 's/ .*//'); do
	assert_matches "$prefix/share/man/man7/swizzle-formats.7" \
		"^\.SH ${format^^}\$"
	assert_matches "$prefix/share/man/man1/swizzle-dump.1" "^\.B $format\$"
done

it 'completions for bash, zsh and fish'
for tool in swizzle-run swizzle-dump swizzle-top swizzle-ctl; do
	for file in bash-completion/completions/"$tool" zsh/site-functions/_"$tool" \
		fish/vendor_completions.d/"$tool.fish"; do
		cmp "$prefix/share/$file" "$BUILD/share/$file"
	done
done >differences 2>&1
assert_empty differences

it 'uninstall'
capture make -s -C "$TOP" uninstall DESTDIR="$TMP/root" PREFIX="$TMP/prefix"
assert_status 0
assert_eq '' "$(find "$prefix" -type f)"

finish
