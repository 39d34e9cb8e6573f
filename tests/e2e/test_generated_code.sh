# shellcheck shell=bash
# Runtimes that make code and look for the return addresses that it leaves:
# HotSpot, Mono, JavaScriptCore, SBCL, MoarVM, OCaml's plugins.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets generated libgenerated.so
PROGRAM=$TARGETS/generated
need gcc

library() { # NAME FLAG...
	local name=$1
	shift
	gcc -O1 -fno-inline -fno-optimize-sibling-calls -shared -fPIC \
		-Wl,--hash-style=gnu -o "lib$name.so" "$@" \
		"$TOP/tests/targets/libgenerated.c" ||
		abort "lib$name.so cannot be built"
}

library java -DMARK=gHotSpotVMStructs
library mono -DMARK=mono_add_internal_call
library jsc -DMARK=JSGlobalContextCreate
library wpe -DMARK=jsc_context_new
library sbcl -DMARK=gc_and_save
library qtwebkit -DMARK=_ZN12QWebSettings14globalSettingsEv
library moar -DMARK=MVM_vm_create_instance
library compiled -DCOMPILED -DMARK=mono_aot_file_info
library plugin -DMARK=caml_plugin_header

assert_calls_of() { # NAME EXPECTED
	local calls
	calls=$(row table calls "$1")
	assert_eq "$2" "${calls:-0}" "calls of $1"
}

for cache in 0 1 1; do
	export SWIZZLE_CACHE=$cache
	it "its own functions are called by code that HotSpot made (cache $cache)"
	assert_same_as_native "$PROGRAM" ./libjava.so
	assert_contains out 3500 # each at 34, and other's 1
	assert_complete profile
	dump_table profile
	# only the program's own calls of the one; all that it calls; all others
	assert_calls_of runtime_entry 5
	assert_calls_of look 105
	assert_calls_of other 100

	it "any function is called by code that Mono made (cache $cache)"
	assert_same_as_native "$PROGRAM" ./libmono.so ./libcompiled.so
	assert_complete profile
	dump_table profile
	assert_calls_of runtime_entry 5
	assert_calls_of look 205
	assert_calls_of other 0
	assert_calls_of compiled 0
	"$DUMP" -f info profile >info
	assert_matches info '/libcompiled.so +4 +0 +4$'
done
unset SWIZZLE_CACHE

for library in jsc wpe qtwebkit sbcl moar; do
	it "any function is called by code that another such runtime made ($library)"
	assert_same_as_native "$PROGRAM" "./lib$library.so"
	assert_complete profile
	dump_table profile
	assert_calls_of runtime_entry 5
	assert_calls_of look 105
	assert_calls_of other 0
done

it "a plugin of OCaml's is left alone as its programs are"
assert_same_as_native "$PROGRAM" ./libplugin.so
"$DUMP" -f info profile >info
assert_matches info '/libplugin.so +3 +0 +3$'

it 'code that others made: all calls are recorded'
"$RUN" -o profile "$PROGRAM" "$TARGETS/libgenerated.so" >out
dump_table profile
assert_calls_of runtime_entry 105
assert_calls_of other 100

if have 'a program in Java' java; then
	cat >T.java <<-'END'
		public class T {
			static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
			static int deep(int n) { return deep(n + 1) + 1; }
			public static void main(String[] a) throws Exception {
				Thread t = new Thread(() -> System.out.println(fib(20)));
				t.start();
				t.join();
				try { deep(0); } catch (StackOverflowError e) { System.out.println("deep"); }
				int n = 0;
				for (int i = 0; i < 3000; i++)
					try { throw new Exception(); } catch (Exception e) { n += e.getStackTrace().length; }
				System.out.println(n > 0);
				byte[][] b = new byte[100][];
				for (int i = 0; i < 10000; i++) b[i % 100] = new byte[10000];
				System.gc();
				System.exit(6);
			}
		}
	END
	if java T.java >/dev/null 2>&1 || [ $? -eq 6 ]; then
		assert_same_as_native java -XX:+UseSerialGC T.java
		assert_status 6
		"$DUMP" -f info profile >info
		assert_matches info '/libjvm\.so +[0-9]+ +[0-9]{4,} '
		assert_matches info '^lost calls: 0$'
	else
		echo 'not tested: a program in Java does not run here'
	fi
fi

# A setter calls back while the code that called it is superseded, and then freed
# if nothing on the stack leads there.
if have 'code that JavaScriptCore keeps since it is on the stack' jsc; then
	cat >superseded.js <<-'END'
		function set(o, v) { o.input = v; }
		noInline(set);
		let calls = 0, shape = 0;
		function make() {
			const o = {};
			o["p" + shape++] = 1;
			o.input = 1;
			return o;
		}
		const value = { toString() {
			for (let i = 0; i < 12; i++) set(make(), "y");
			gc();
			gc();
			return "value" + ++calls;
		} };
		for (let round = 0; round < 10; round++) {
			for (let i = 0; i < 2000; i++) set(RegExp, "x" + i);
			set(RegExp, value);
		}
		print(RegExp.input);
	END
	set -- jsc --useConcurrentJIT=0 --zeroExecutableMemoryOnFree=1 superseded.js
	if [ "$("$@" 2>/dev/null)" = value10 ]; then
		assert_same_as_native "$@"
	else
		echo 'not tested: this jsc has other options'
	fi
fi

# The same in Qt WebKit, where what is freed must be used again to be noticed.
if have 'code that Qt WebKit keeps since it is on the stack' wkhtmltopdf; then
	cat >superseded.html <<-'END'
		<html><body><script>
		function set(o, v) { o.input = v; }
		var calls = 0, shape = 0, garbage;
		function make() {
			var o = {};
			o["p" + shape++] = 1;
			o.input = 1;
			return o;
		}
		function use(k) {
			var f = new Function("o", "var s = 0; for (var i = 0; i < 50; i++)" +
				"s += o.a" + k + " + o.b" + calls + "_" + k + "; return s");
			var o = {};
			o["a" + k] = 1;
			for (var i = 0; i < 200; i++) f(o);
		}
		var value = { toString: function () {
			calls++;
			for (var i = 0; i < 12; i++) set(make(), "y");
			for (var i = 0; i < 300000; i++) garbage = { a: i, b: [i, i + 1] };
			for (var k = 0; k < 30; k++) use(k);
			return "value" + calls;
		} };
		for (var round = 0; round < 10; round++) {
			for (var i = 0; i < 2000; i++) set(RegExp, "x" + i);
			set(RegExp, value);
		}
		document.write(RegExp.input);
		</script></body></html>
	END
	export QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR=$TMP
	assert_same_as_native wkhtmltopdf -q --enable-local-file-access superseded.html out.pdf
	assert_status 0
	unset QT_QPA_PLATFORM XDG_RUNTIME_DIR
fi

# qsort calls back into Lisp, which collects garbage while the function that
# called qsort has no other place in the heap than its return address.
if have 'code that SBCL does not move since it is on the stack' sbcl; then
	cat >moved.lisp <<-'END'
		(setf sb-c::*compile-to-memory-space* :dynamic)
		(defvar *places* nil)
		(declaim (notinline sort-it))
		(defun place ()
		  (sb-kernel:get-lisp-obj-address (sb-kernel:fun-code-header #'sort-it)))
		(sb-alien:define-alien-callable compare sb-alien:int ((a (* t)) (b (* t)))
		  (push (place) *places*)
		  (gc :full t)
		  (push (place) *places*)
		  (let ((x (sb-sys:sap-ref-32 (sb-alien:alien-sap a) 0))
		        (y (sb-sys:sap-ref-32 (sb-alien:alien-sap b) 0)))
		    (cond ((< x y) -1) ((> x y) 1) (t 0))))
		(defun make ()
		  (setf (fdefinition 'sort-it)
		        (compile nil '(lambda (sap n)
		          (sb-alien:alien-funcall
		            (sb-alien:extern-alien "qsort"
		              (function sb-alien:void sb-sys:system-area-pointer
		                        sb-alien:unsigned-long sb-alien:unsigned-long
		                        sb-sys:system-area-pointer))
		            sap n 4 (sb-alien:alien-sap (sb-alien:alien-callable-function 'compare)))
		          (sb-sys:sap-ref-32 sap 0))))
		  nil)
		(make)
		(gc :full t)
		(let ((v (make-array 8 :element-type '(unsigned-byte 32))))
		  (dotimes (i 8) (setf (aref v i) (mod (* (1+ i) 7919) 101)))
		  (sb-sys:with-pinned-objects (v)
		    (print (sort-it (sb-sys:vector-sap v) 8)))
		  (print v))
		(print (length (remove-duplicates *places*)))
	END
	set -- sbcl --script moved.lisp
	if "$@" >native 2>&1 && [ "$(tail -n 1 native)" = '1 ' ]; then
		RUN_OPTIONS=(-M '*')
		assert_same_as_native "$@"
		RUN_OPTIONS=()
	else
		echo 'not tested: this sbcl moves it natively'
	fi
fi

# Which handlers are in force goes by the place in the code that has called.
if have 'handlers of exceptions in code that MoarVM made' rakudo; then
	cat >T.raku <<-'END'
		my ($sum, $caught) = 0, 0;
		for ^5000 -> $i {
			next if $i %% 5;
			try {
				die 'seventh' if $i %% 7;
				$sum += $i;
				CATCH { default { $caught++ } }
			}
		}
		say "$sum $caught";
		exit 4;
	END
	assert_same_as_native rakudo T.raku
	assert_status 4
fi

# Its collector knows the plugin's frames by their return addresses, too.
if have "a plugin of OCaml's that collects garbage" ocamlopt; then
	cat >plugin.ml <<-'END'
		let rec build n = if n = 0 then [] else string_of_int n :: build (n - 1)
		let rec fail n = if n = 0 then failwith "deep" else 1 + fail (n - 1)
		let () =
		  for i = 1 to 5 do
		    let l = build 500 in
		    Gc.compact ();
		    Printf.printf "%d %d\n%!" i (List.length (List.sort compare l))
		  done;
		  try ignore (fail 100) with Failure what -> print_endline what
	END
	echo 'let () = Dynlink.loadfile "./plugin.cmxs"; exit 7' >host.ml
	if ocamlopt -shared -o plugin.cmxs plugin.ml >log 2>&1 &&
		ocamlopt dynlink.cmxa host.ml -linkall -o host >>log 2>&1 &&
		{ ./host >log 2>&1 || [ $? -eq 7 ]; }; then
		assert_same_as_native ./host
		assert_status 7
	else
		echo 'not tested: a plugin of OCaml does not run here'
	fi
fi

finish
