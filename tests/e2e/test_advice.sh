# shellcheck shell=bash
# What swizzle-dump says of rows without names and of interpreters: which module,
# how many rows, what helps. dpkg and apt-file are stood in for by scripts.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc strip objcopy readelf python3
unset DEBUGINFOD_URLS SWIZZLE_ADVICE

program work.c >work.c
mkdir fake
# shellcheck disable=SC2016 # a directory whose name a shell would execute
mkdir 'odd $(touch ran) dir'
# The names that a program exports remain when it is stripped.
gcc -O1 -pthread -rdynamic -Wl,--build-id -o whole work.c || abort 'no program'
id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
[ -n "$id" ] || abort 'the program has no build-id'
objcopy --only-keep-debug whole work.debug
# shellcheck disable=SC2016
program='odd $(touch ran) dir/program'
strip -o "$program" whole
"$RUN" -q -o profile "./$program" || abort 'no profile'
"$DUMP" -q -f csv -o csv profile
rows=$(tail -n +2 csv | grep -c 'program')
nameless=$(grep -c ',sub_[0-9a-f]*,' csv)

# A stand-in that notes its arguments, one a line, in NAME.asked.
stand_in() { # NAME COMMANDS
	printf '#!/bin/sh\nprintf "%%s\\n" "$@" ":" >>%s.asked\n%s\n' \
		"$TMP/$1" "$2" >"fake/$1"
	chmod +x "fake/$1"
	rm -f "$1.asked"
}
times_asked() { # NAME
	grep -c '^:$' "$1.asked" 2>/dev/null
}
advised() { # OPTION...: what comes to `err`
	capture env PATH="$TMP/fake:$PATH" "$DUMP" "$@"
	assert_status 0
}

it 'rows without a name: how many, which build-id, whose package'
assert_ge "$nameless" 3 'rows without a name'
assert_ge "$rows" $((nameless + 1)) 'rows'
stand_in dpkg 'echo "diversion by other from: /x"; echo "some-tool:amd64, other: /x"'
advised -f text profile
assert_contains err "/program: $nameless of $rows rows have no name ("
assert_contains err "(build-id $id)"
assert_contains err 'Install the -dbgsym or -dbg package of some-tool, set DEBUGINFOD_URLS, or '
assert_eq 1 "$(grep -c 'have no name' err)" 'lines'
assert_eq 1 "$(wc -l <err)" 'lines of all kinds'

it 'a source package of another name'
stand_in dpkg-query 'echo some-source'
advised -f text profile
assert_contains err 'Install the -dbgsym or -dbg package of some-tool, or of its source some-source, set '
# shellcheck disable=SC2016 # dpkg-query's
assert_eq '-W -f ${source:Package}  some-tool : ' "$(tr '\n' ' ' <dpkg-query.asked)" 'arguments'
stand_in dpkg-query 'echo some-tool'
advised -f text profile
assert_contains err 'Install the -dbgsym or -dbg package of some-tool, set '
rm fake/dpkg-query

it 'dpkg gets the path as one argument, and no shell sees it'
assert_eq "-S -- $TMP/$program " "$(head -n 3 dpkg.asked | tr '\n' ' ')" 'arguments'
[ ! -e ran ] || fail 'a shell has executed a part of the path'

it 'the share is that of the rows without a name'
share=$(awk -F, 'NR > 1 { all += $2; if ($7 ~ /^sub_/) own += $2 }
	END { printf "%.0f", 100 * own / all }' csv)
assert_ge "$share" 10 'percent'
assert_contains err "rows have no name ($share% of the time)"

it 'a file of no package'
stand_in dpkg 'exit 1'
advised -f text profile
assert_contains err 'Build it without stripping it, set DEBUGINFOD_URLS, or '

it 'dpkg that fails says nothing about packages'
for end in 'exit 2' 'echo some-tool: /x; exit 127' 'kill -9 $$' 'echo /no/package' \
	'yes some-tool'; do
	stand_in dpkg "$end"
	advised -f text profile
	assert_contains err 'Install its debug package, set DEBUGINFOD_URLS, or '
done

it 'dpkg that never answers is not waited for'
stand_in dpkg 'echo $$ >dpkg.pid; exec sleep 100'
start=$SECONDS
advised -f text profile
assert_le $((SECONDS - start)) 20 'seconds'
assert_contains err 'Install its debug package, '
[ -s dpkg.pid ] || fail 'dpkg was not asked'
! kill -0 "$(cat dpkg.pid)" 2>/dev/null || fail 'dpkg goes on'

it 'the message with servers to ask, which have nothing'
stand_in dpkg 'exit 1'
capture env PATH="$TMP/fake:$PATH" DEBUGINFOD_URLS=http://127.0.0.1:1/ \
	DEBUGINFOD_CACHE_PATH="$TMP/cache" "$DUMP" -f text profile
assert_contains err 'Build it without stripping it, or name the directory'

it 'with -q nobody is asked'
stand_in dpkg 'exit 1'
advised -q -f text profile
assert_empty err
assert_eq '' "$(cat dpkg.asked 2>/dev/null)" 'arguments'

capture env SWIZZLE_ADVICE=0 PATH="$TMP/fake:$PATH" "$DUMP" -f text profile
assert_empty err
assert_eq '' "$(cat dpkg.asked 2>/dev/null)" 'arguments'

it 'nor where the names are found'
mkdir debug
cp work.debug debug/program.debug
advised -f text --debug-dir debug profile
assert_empty err
assert_eq '' "$(cat dpkg.asked 2>/dev/null)" 'arguments'

it 'nor where the rows that are shown have names'
advised -f text -F exported profile
assert_empty err
assert_eq '' "$(cat dpkg.asked 2>/dev/null)" 'arguments'
advised -f text -F 'sub_*' profile
assert_contains err ": $nameless of $nameless rows have no name ("

it 'each table of functions, once, however many parts it has'
set -- "--by thread,parts profile" "--by thread,files -o parts profile" \
	"--by function profile" "--by function,thread profile" \
	"--diff profile profile"
for options; do
	rm -f dpkg.asked
	# shellcheck disable=SC2086
	advised -f text $options
	assert_eq 1 "$(grep -c "/program: $nameless of $rows rows have no name ($share%" err)" \
		"lines with $options"
	assert_eq 1 "$(times_asked dpkg)" "questions with $options"
done
for key in module process thread; do
	advised -f text --by $key profile
	assert_empty err
done

it 'each format, the page in its notes, too'
for format in text table csv json callgrind folded dot pprof speedscope html; do
	advised -f $format -o "out.$format" profile
	assert_contains err " $nameless of $rows rows have no name ($share%"
done
cat >description.py <<'END'
import base64, json, re, sys, zlib
text = open(sys.argv[1]).read()
block = re.search(r'name="?description"?[^>]*>|id="?description"?[^>]*>', text)
data = re.match(r'[A-Za-z0-9+/=\s]*', text[block.end():]).group()
print(*json.loads(zlib.decompress(base64.b64decode(data)))["advice"], sep="\n")
END
python3 description.py out.html >notes
assert_eq "$(sed 's/^swizzle: //' err)" "$(cat notes)" 'notes'
advised -q -f html -o quiet.html profile
assert_eq '' "$(python3 description.py quiet.html)" 'notes with -q'

if have 'the page shows them' chromium; then
	timeout 300 python3 - "$TOP/tests/html" out.html quiet.html <<-'END' >shown ||
		import sys
		sys.path.insert(0, sys.argv[1])
		import browser
		with browser.Browser() as page:
		    for path in sys.argv[2:]:
		        page.open(path)
		        page.click_on('[data-list=notes]')
		        print(page.eval("document.querySelector('#notes').innerText"))
		        print('(end)', *page.complaints)
	END
		fail 'the page cannot be looked at'
	assert_eq 1 "$(sed '/^(end)/q' shown | grep -c -x -F "$(cat notes).")" \
		"in the notes: $(head -n 5 shown)"
	assert_eq 0 "$(sed '1,/^(end)/d' shown | grep -c 'no name')" 'in those with -q'
	assert_eq '(end) (end)' "$(grep '^(end)' shown | xargs)" 'complaints'
fi

it 'the file that is now there is another one: its package is not ours'
rm -f dpkg.asked
cp "$program" kept
sed 's/200000/200001/' work.c >other.c
gcc -O1 -pthread -rdynamic -Wl,--build-id -o "$program" other.c
strip "$program"
advised -f text profile
assert_contains err "(build-id $id)"
assert_contains err 'Install its debug package, '
assert_eq '' "$(cat dpkg.asked 2>/dev/null)" 'arguments'
cp kept "$program"

it 'a program without a build-id'
gcc -O1 -s -pthread -Wl,--build-id=none -o bare work.c
"$RUN" -q -o bare.profile ./bare
advised -f text bare.profile
assert_contains err '(it has no build-id). Build it without stripping it, or name'

it 'a few functions without a name, in a program that has its symbols: no advice'
gcc -O1 -pthread -Wl,--build-id -o some work.c
strip -N second some
"$RUN" -q -o some.profile ./some
advised -f text some.profile
assert_matches out ' sub_[0-9a-f]+ '
assert_empty err

it 'dpkg is asked for what a link leads to, and for paths with and without /usr'
mkdir library
cat >lib.c <<'END'
static volatile unsigned long sink;
static __attribute__((noinline, noclone)) void inner(void)
{
	for (int i = 0; i < 30000000; i++) sink += i;
}
void outer(void) { inner(); }
END
gcc -O1 -s -shared -fPIC -Wl,--build-id,-soname,liblinked.so.1 \
	-o library/liblinked.so.1.2 lib.c
ln -s liblinked.so.1.2 library/liblinked.so.1
echo 'void outer(void); int main(void) { outer(); }' >use.c
gcc -O1 -o linked use.c library/liblinked.so.1 -Wl,-rpath,"$TMP/library"
"$RUN" -q -o linked.profile ./linked
# shellcheck disable=SC2016 # of that shell
stand_in dpkg 'for path; do case $path in
/usr/*/liblinked.so.1.2) echo "linked1:amd64: $path" ;;
*) exit=1 ;; esac; done; exit $exit'
advised -f text linked.profile
assert_matches err 'library/liblinked\.so\.1: 1 of [0-9]+ rows have no name'
assert_contains err 'package of linked1, '
assert_contains dpkg.asked "$TMP/library/liblinked.so.1.2"
rm -f fake/dpkg

if have 'the real dpkg' dpkg g++ &&
	library=$(gcc -print-file-name=libgcc_s.so.1) &&
	dpkg -S "$library" "$(readlink -f "$library")" \
		"$(readlink -f "$library" | sed 's|^/usr||')" 2>/dev/null |
	sed 's/[:,].*//' >owner && [ -s owner ]; then
	cat >throws.cc <<-'END'
		int main(int n, char **)
		{
			int caught = 0;
			for (int i = 0; i < 20000; i++)
				try { if (n) throw i; } catch (int) { caught++; }
			return caught < 0;
		}
	END
	g++ -O1 -o throws throws.cc || abort 'no program'
	"$RUN" -q -M 'libgcc_s*' -o throws.profile ./throws
	# (within a second, which a loaded machine may not have)
	for ((i = 0; i < 20; i++)); do
		capture "$DUMP" -f text throws.profile
		! grep -q 'Install its debug package' err || continue
		break
	done
	assert_contains err '/libgcc_s.so.1: '
	assert_contains err "package of $(head -n 1 owner), "
fi

if have 'apt-file knows which package has the debug file' unshare mount; then
	mkdir lists
	: >lists/mirror_dists_stable_main_Contents-amd64.lz4
	stand_in dpkg 'echo some-tool: /x'
	stand_in apt-file 'echo some-tool-debugging'
	options=(--mount)
	[ "$(id -u)" -eq 0 ] || options+=(--map-root-user)
	# shellcheck disable=SC2016
	with_lists='mount --bind lists /var/lib/apt/lists && PATH=$1:$PATH && shift && exec "$@"'
	if [ -d /var/lib/apt/lists ] &&
		unshare "${options[@]}" sh -c "$with_lists" - fake true 2>/dev/null; then
		capture unshare "${options[@]}" sh -c "$with_lists" - "$TMP/fake" \
			"$DUMP" -f text profile
		assert_contains err '. Install some-tool-debugging, set DEBUGINFOD_URLS, or '
		assert_eq "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" \
			"$(sed -n '/debug/p' apt-file.asked)" 'the file that is asked for'
		# it has no contents to look in: it is not asked
		rm lists/*
		rm -f apt-file.asked
		capture unshare "${options[@]}" sh -c "$with_lists" - "$TMP/fake" \
			"$DUMP" -f text profile
		assert_contains err 'package of some-tool'
		assert_eq '' "$(cat apt-file.asked 2>/dev/null)" 'arguments'

		it "apt-cache's lists say which package has the build-id"
		mkdir caches
		: >caches/pkgcache.bin
		with_caches=${with_lists//lists/caches}
		with_caches=${with_caches//\/var\/lib\/apt\/caches/\/var\/cache\/apt}
		stand_in dpkg-query 'echo some-source'
		list() { # the build-id is of the second
			printf 'Package: some-tool-dbg\nBuild-Ids: 0123 4567\n\nPackage: some-source-dbg\nVersion: 1\nBuild-Ids: 89ab %s cdef\nSize: 3\n\n' "$1"
		}
		list "$id" >listed
		stand_in apt-cache "cat $TMP/listed; exit 100"
		capture unshare "${options[@]}" sh -c "$with_caches" - "$TMP/fake" \
			"$DUMP" -f text profile
		assert_contains err '. Install some-source-dbg, set DEBUGINFOD_URLS, or '
		assert_eq 'show some-tool-dbgsym some-tool-dbg some-source-dbg : ' \
			"$(tr '\n' ' ' <apt-cache.asked)" 'arguments'
		list "${id%?}" >listed # of another build
		capture unshare "${options[@]}" sh -c "$with_caches" - "$TMP/fake" \
			"$DUMP" -f text profile
		assert_contains err 'of some-tool, or of its source some-source, '
		rm fake/dpkg-query fake/apt-cache
	else
		echo 'not tested: apt-file, apt-cache, without mount name spaces'
	fi
fi

# Works for 60 ms of the processor, however fast that is.
# shellcheck disable=SC2016
busy_function='
#include <time.h>
static inline __attribute__((always_inline)) void be_busy(void)
{
	static volatile unsigned long sink;
	const clock_t end = clock() + CLOCKS_PER_SEC * 6 / 100;
	do
		for (int i = 0; i < 1000000; i++)
			sink += i;
	while (clock() < end);
}'

# A library that exports what an interpreter does and a program that uses it.
interpreter() { # SYMBOL: profiled as `profile.SYMBOL`
	cat >lib.c <<-END
		$busy_function
		void $1(void) { be_busy(); }
	END
	printf 'void %s(void);\nint main(void) { %s(); }\n' "$1" "$1" >use.c
	gcc -O1 -shared -fPIC -o "libof_$1.so" lib.c &&
		gcc -O1 -o "uses_$1" use.c -L. "-lof_$1" -Wl,-rpath,"$TMP" &&
		"$RUN" -q -o "profile.$1" "./uses_$1"
}

it 'an interpreter is known by what it exports'
while read -r symbol language; do
	interpreter "$symbol" || fail "no profile of $symbol"
	advised -f text "profile.$symbol"
	assert_contains err "libof_$symbol.so interprets $language: its rows are the interpreter's C functions. To see the script's own, record with swizzle-run -m sample"
	assert_eq 1 "$(wc -l <err)" 'lines'
done <<'END'
Py_BytesMain Python
JNI_CreateJavaVM Java
ruby_run_node Ruby
php_execute_script PHP
luaJIT_setmode Lua
_ZN4node5StartEiPPc JavaScript
END

it 'of a version whose scripts cannot be read: which it is, and which can'
while read -r program symbol version language; do
	version=${version//\~/ } language=${language//\~/ }
	echo 'JAVA_VERSION="11.0.2"' >release
	cat >lib.c <<-END
		$busy_function
		$version;
		void $symbol(void) { be_busy(); }
	END
	printf 'void %s(void);\nint main(void) { %s(); }\n' "$symbol" "$symbol" >use.c
	gcc -O1 -shared -fPIC -o libversion.so lib.c
	gcc -O1 -o "$program" use.c -L. -lversion -Wl,-rpath,"$TMP"
	"$RUN" -q -o counted "./$program"
	advised -f text counted
	assert_contains err "libversion.so interprets $language: its rows are the interpreter's C functions. The script's own can be read of Python 3.6 to 3.15"
	capture env SWIZZLE_SUMMARY=1 "$RUN" -m sample -o sampled "./$program"
	grep -q ' samples of ' err || { echo "not tested: samples: $(head -n 1 err)"; continue; }
	assert_contains err "$program is $language: its rows are the interpreter's C functions. The script's own can be read of Python 3.6 to 3.15"
	assert_not_contains err 'engine pause'
	advised -f text --script sampled
	assert_contains err "libversion.so is $language, and they can be read of Python 3.6 to 3.15"
	assert_not_contains err '-m sample'
done <<'END'
python3.16 Py_BytesMain const~unsigned~long~Py_Version=0x031001f0 Python~3.16
perl5.30 perl_run const~char~PL_version[4]={30,5};void~perl_clone(void)~{} Perl~5.30
ruby9.3 ruby_run_node const~char~ruby_version[]="9.3.8" Ruby~9.3
php7.3 php_execute_script const~char~version[]="Zend~Engine~v3.3.9,~Copyright" PHP~7.3
java JNI_CreateJavaVM int~unused Java~11
END

it 'not where that mode was used'
if "$RUN" -q -m sample -o sampled ./uses_Py_BytesMain 2>err; then
	advised -f text sampled
	assert_matches out ' Py_BytesMain  libof_Py_BytesMain\.so$'
	assert_empty err
else
	echo "not tested: samples: $(head -n 1 err)"
fi

it 'of others it is said that no mode does'
for interpreter in Tcl_EvalObjv:Tcl lua_pcall:Lua; do
	interpreter "${interpreter%:*}"
	advised -f text "profile.${interpreter%:*}"
	assert_contains err "interprets ${interpreter#*:}: its rows are the interpreter's C functions. The script's own are not recorded"
done

it 'nor where a program has one and runs next to no script'
cat >lib.c <<'END'
static volatile unsigned long sink;
void lua_pcall(int n) { for (int i = 0; i < n; i++) sink += i; }
void serve(int n) { for (int i = 0; i < n; i++) sink += i; }
END
cat >use.c <<'END'
#include <stdlib.h>
void lua_pcall(int), serve(int);
int main(int argc, char **argv) { lua_pcall(atoi(argv[1])); serve(atoi(argv[2])); return argc - 3; }
END
gcc -O1 -shared -fPIC -o libembeds.so lib.c
gcc -O1 -o embeds use.c -L. -lembeds -Wl,-rpath,"$TMP"
"$RUN" -q -o serves ./embeds 1000 30000000
advised -f text serves
assert_empty err
"$RUN" -q -o scripts ./embeds 30000000 30000000
advised -f text scripts
assert_contains err "libembeds.so interprets Lua"

it 'not by its name; nor one in which next to no time was spent'
cp whole python3.11
"$RUN" -q -o named ./python3.11
advised -f text named
assert_empty err
cat >lib.c <<'END'
int perl_run(int a) { return a > 1 ? a * 3 : a - 1; }
END
cat >use.c <<'END'
static volatile unsigned long sink;
int perl_run(int);
int main(void) { for (int i = 0; i < 3000000; i++) sink += i; return perl_run(1); }
END
gcc -O1 -shared -fPIC -o libperl_run.so lib.c
gcc -O1 -o hardly use.c -L. -lperl_run -Wl,-rpath,"$TMP"
"$RUN" -q -o hardly.profile ./hardly
advised -f text hardly.profile
assert_matches out ' perl_run '
assert_empty err

for program in python3:Python node:JavaScript ruby:Ruby perl:Perl lua:Lua; do
	have "a real ${program%:*}" "/usr/bin/${program%:*}" || continue
	case $program in
	python3*) set -- -c 'sum(i * i for i in range(500000))' ;;
	*) set -- -e 'for (i = 0; i < 5000000; i++) { }' ;;
	esac
	# shellcheck disable=SC2016 # perl's
	case $program in
	ruby*) set -- -e '500000.times { |i| i * i }' ;;
	perl*) set -- -e 'for $i (0..1000000) { $sum += $i }' ;;
	lua*) set -- -e 'for i = 1, 500000 do s = i .. "" end' ;;
	esac
	"$RUN" -q -o real.profile "/usr/bin/${program%:*}" "$@"
	advised -f text real.profile
	assert_matches err "interprets ${program#*:}: "
done
it '--get-names: the command, with the repository that is missing'
get_names() { # ANSWER [VARIABLE=VALUE]...: status into `status`, text into `out`
	local answer=$1
	shift
	printf '%s\n' "$answer" | env "$@" PATH="$TMP/fake:$PATH" "$DUMP" \
		--get-names profile >out 2>err
	status=$?
}
if [ "$(sed -n 's/^ID=//p' /etc/os-release)" = debian ] && [ "$(id -u)" = 0 ]; then
	codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	stand_in dpkg 'echo "some-tool: /x"'
	stand_in dpkg-query 'echo some-tool'
	stand_in apt-file 'exit 1'
	stand_in apt-cache 'echo "500 http://deb.debian.org/debian stable/main"'
	stand_in apt-get 'exit 0'
	get_names n
	assert_eq 1 $status 'status where nothing was done'
	assert_contains out "/program: "
	assert_contains out "deb http://deb.debian.org/debian-debug/ $codename-debug main"
	assert_contains out 'apt-get update && apt-get install some-tool-dbgsym'
	assert_contains out 'Nothing was done.'
	[ ! -e apt-get.asked ] || fail 'apt-get was run'
	stand_in apt-cache 'echo "500 http://deb.debian.org/debian-debug stable-debug/main"'
	get_names y
	assert_eq 0 $status 'status'
	assert_not_contains out 'tee /etc/apt'
	assert_eq 'install some-tool-dbgsym : ' "$(tr '\n' ' ' <apt-get.asked)" 'what apt-get is told'
	stand_in apt-get 'exit 5'
	get_names y
	assert_eq 1 $status 'status where apt-get fails'
fi

it '--get-names: a server where there is no package'
stand_in dpkg 'exit 1'
get_names n DEBUGINFOD_URLS=http://localhost:1
assert_eq 1 $status status
assert_contains out " --embed 'profile'"
get_names ''
assert_contains out 'DEBUGINFOD_URLS=https://'

it '--get-names: nothing lacks a name'
"$RUN" -q -o named ./whole || abort 'no profile'
capture "$DUMP" --get-names named
assert_status 0
assert_contains out 'All files that took time have names.'
finish
