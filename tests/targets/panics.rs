// Panics through hooked frames: panics caught|threads|through_c|uncaught
use std::hint::black_box;
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        note_drop();
    }
}

#[inline(never)]
#[no_mangle]
pub fn note_drop() {
    DROPPED.fetch_add(1, SeqCst);
}

#[inline(never)]
#[no_mangle]
pub fn nest(depth: i32) -> i32 {
    let _guard = Guard;
    if depth > 0 {
        return black_box(nest(black_box(depth - 1))) + 1;
    }
    panic!("from below");
}

#[inline(never)]
#[no_mangle]
pub fn next_frame(i: i32) -> i32 {
    if i >= 0 {
        panic!("next");
    }
    i
}

#[inline(never)]
#[no_mangle]
pub fn catcher(i: i32) -> usize {
    let far = panic::catch_unwind(|| nest(10)).is_err() as usize;
    far + panic::catch_unwind(|| next_frame(i)).is_err() as usize
}

// Caught and thrown again.
#[inline(never)]
#[no_mangle]
pub fn resumer() -> usize {
    let result = panic::catch_unwind(|| match panic::catch_unwind(|| nest(3)) {
        Err(e) => panic::resume_unwind(e),
        Ok(v) => v,
    });
    match result {
        Err(e) => e.downcast_ref::<&str>().map_or(0, |s| s.len()),
        Ok(_) => 0,
    }
}

type Compare = unsafe extern "C-unwind" fn(*const i32, *const i32) -> i32;

extern "C-unwind" {
    fn qsort(base: *mut i32, count: usize, size: usize, compare: Compare);
}

#[inline(never)]
#[no_mangle]
pub unsafe extern "C-unwind" fn compare(a: *const i32, b: *const i32) -> i32 {
    let _guard = Guard;
    if *a == 7 || *b == 7 {
        panic!("seven");
    }
    *a - *b
}

#[inline(never)]
#[no_mangle]
pub fn sort_in_c() -> i32 {
    let mut numbers = [3, 7];
    unsafe { qsort(numbers.as_mut_ptr(), 2, 4, compare) };
    numbers[0]
}

fn main() {
    let mode = std::env::args().nth(1).unwrap_or("caught".to_string());
    let mut sum = 0;
    if mode != "uncaught" {
        panic::set_hook(Box::new(|_| {}));
    }
    match mode.as_str() {
        "caught" => {
            for i in 0..100 {
                sum += catcher(i) + resumer();
            }
        }
        "threads" => {
            for _ in 0..10 {
                sum += thread::spawn(|| nest(10)).join().is_err() as usize;
            }
        }
        "through_c" => {
            for _ in 0..100 {
                sum += panic::catch_unwind(|| sort_in_c()).is_err() as usize;
            }
        }
        _ => sum = nest(5) as usize,
    }
    println!("{} {}", sum, DROPPED.load(SeqCst));
}
