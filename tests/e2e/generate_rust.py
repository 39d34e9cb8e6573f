# Writes a Rust program of COUNT functions with random arguments and results,
# each of which prints what it is given and what it returns, as
# `swizzle-dump -f calls` shows it.
#     generate_rust.py COUNT SEED >program.rs
import random
import sys

count, seed = int(sys.argv[1]), int(sys.argv[2])
chance = random.Random(seed)


def whole(kind, low, high):
    return lambda: f'{chance.randint(low, high)}{kind}'


def quarter(kind):
    return lambda: f'{chance.randint(-400, 400) / 4}{kind}'


i32 = whole('i32', -2**31, 2**31 - 1)
u32 = whole('u32', 0, 2**32 - 1)
i64 = whole('i64', -2**63, 2**63 - 1)
u64 = whole('u64', 0, 2**64 - 1)
u8 = whole('u8', 0, 255)
f64 = quarter('f64')


def either(*values):
    return lambda: chance.choice(values)()


TYPES = {
    'i8': whole('i8', -128, 127), 'u8': u8, 'i16': whole('i16', -2**15, 2**15 - 1),
    'u16': whole('u16', 0, 2**16 - 1), 'i32': i32, 'u32': u32, 'i64': i64, 'u64': u64,
    'bool': lambda: chance.choice(['true', 'false']),
    'f32': quarter('f32'), 'f64': f64,
    '&str': lambda: chance.choice(['"text"', '""', '"a \\"b\\""']),
    'Colour': lambda: 'Colour::' + chance.choice(['Red', 'Green', 'Blue']),
    'Shape': either(lambda: f'Shape::Circle({f64()})', lambda: f'Shape::Square {{ side: {u32()} }}',
                    lambda: 'Shape::Nothing'),
    'Small': either(lambda: f'Small::One({u8()})', lambda: f'Small::Two({u8()})', lambda: 'Small::Zero'),
    'Option<u32>': either(lambda: f'Some({u32()})', lambda: 'None'),
    'Option<i64>': either(lambda: f'Some({i64()})', lambda: 'None'),
    'Option<f64>': either(lambda: f'Some({f64()})', lambda: 'None'),
    'Option<bool>': either(lambda: 'Some(true)', lambda: 'Some(false)', lambda: 'None'),
    'Option<Colour>': either(lambda: 'Some(Colour::Blue)', lambda: 'None'),
    'Option<NonZeroU32>': either(lambda: f'NonZeroU32::new({u32()})', lambda: 'None'),
    'Option<Option<u8>>': either(lambda: f'Some(Some({u8()}))', lambda: 'Some(None)', lambda: 'None'),
    'Result<i32, i32>': either(lambda: f'Ok({i32()})', lambda: f'Err({i32()})'),
    'Result<u64, u64>': either(lambda: f'Ok({u64()})', lambda: f'Err({u64()})'),
    '(i32, i32)': lambda: f'({i32()}, {i32()})',
    '(u8, u64)': lambda: f'({u8()}, {u64()})',
    '(f64, u32)': lambda: f'({f64()}, {u32()})',
    '(f32, f32)': lambda: f'({quarter("f32")()}, {quarter("f32")()})',
    '(u8, u8, u8)': lambda: f'({u8()}, {u8()}, {u8()})',
    '[u8; 4]': lambda: f'[{u8()}, {u8()}, {u8()}, {u8()}]',
    'Pair': lambda: f'Pair {{ a: {i32()}, b: {i32()} }}',
    'Three': lambda: f'Three {{ a: {u32()}, b: {u32()}, c: {u32()} }}',
    'Large': lambda: f'Large {{ p: {i64()}, q: {i32()}, r: {i64()} }}',
}

print('''#![allow(dead_code)]
use std::hint::black_box;
use std::num::NonZeroU32;
#[derive(Clone, Copy)] pub enum Colour { Red, Green, Blue }
#[derive(Clone, Copy)] pub enum Shape { Circle(f64), Square { side: u32 }, Nothing }
#[derive(Clone, Copy)] pub enum Small { One(u8), Two(u8), Zero }
#[derive(Clone, Copy)] pub struct Pair { a: i32, b: i32 }
#[derive(Clone, Copy)] pub struct Three { a: u32, b: u32, c: u32 }
#[derive(Clone, Copy)] pub struct Large { p: i64, q: i32, r: i64 }
trait Show { fn show(&self) -> String; }
macro_rules! plain { ($($t:ty)*) => { $(impl Show for $t { fn show(&self) -> String { format!("{}", self) } })* } }
plain!(i8 u8 i16 u16 i32 u32 i64 u64 bool f32 f64 NonZeroU32);
impl Show for &str { fn show(&self) -> String { format!("{:?}", self) } }
impl Show for Colour { fn show(&self) -> String { match self { Colour::Red => "Red", Colour::Green => "Green", Colour::Blue => "Blue" }.to_string() } }
impl Show for Shape { fn show(&self) -> String { match self { Shape::Circle(r) => format!("Circle({})", r), Shape::Square { side } => format!("Square {{side = {}}}", side), Shape::Nothing => "Nothing".to_string() } } }
impl Show for Small { fn show(&self) -> String { match self { Small::One(n) => format!("One({})", n), Small::Two(n) => format!("Two({})", n), Small::Zero => "Zero".to_string() } } }
impl<T: Show> Show for Option<T> { fn show(&self) -> String { match self { Some(x) => format!("Some({})", x.show()), None => "None".to_string() } } }
impl<T: Show, E: Show> Show for Result<T, E> { fn show(&self) -> String { match self { Ok(x) => format!("Ok({})", x.show()), Err(x) => format!("Err({})", x.show()) } } }
impl<A: Show, B: Show> Show for (A, B) { fn show(&self) -> String { format!("({}, {})", self.0.show(), self.1.show()) } }
impl Show for (u8, u8, u8) { fn show(&self) -> String { format!("({}, {}, {})", self.0, self.1, self.2) } }
impl Show for [u8; 4] { fn show(&self) -> String { format!("{:?}", self) } }
impl Show for Pair { fn show(&self) -> String { format!("{{a = {}, b = {}}}", self.a, self.b) } }
impl Show for Three { fn show(&self) -> String { format!("{{a = {}, b = {}, c = {}}}", self.a, self.b, self.c) } }
impl Show for Large { fn show(&self) -> String { format!("{{p = {}, q = {}, r = {}}}", self.p, self.q, self.r) } }
''')
names = list(TYPES)
calls = []
for i in range(count):
    arguments = [chance.choice(names) for _ in range(chance.randint(0, 10))]
    result = chance.choice(names)
    head = ', '.join(f'v{k}: {t}' for k, t in enumerate(arguments))
    life = "'static " if result == '&str' else ''
    result = result.replace('&str', "&'static str")
    print(f'#[inline(never)] pub fn function{i}({head}) -> {result} {{')
    print(f'    let result: {result} = {TYPES[result.replace(chr(39) + "static ", "")]()};')
    shown = ', '.join(f'v{k} = {{}}' for k in range(len(arguments)))
    values = ''.join(f', v{k}.show()' for k in range(len(arguments)))
    form = f'function{i}({shown}) = {{}}' if arguments else f'function{i} = {{}}'
    print(f'    println!("{form}"{values}, result.show());\n    result\n}}')
    types = ', '.join(arguments)
    calls.append(f'    black_box(black_box(function{i} as fn({types}) -> {result})('
                 + ', '.join(TYPES[t]() for t in arguments) + '));')
print('fn main() {')
print('\n'.join(calls))
print('}')
