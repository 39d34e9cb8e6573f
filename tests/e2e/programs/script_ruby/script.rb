OWN = {}
STACKS = {}
OF_C = %w[each map sort_by times loop resume new eval initialize times]

def note
  # (since 3.4 with classes; those of functions are in Object)
  names = caller_locations(1).map { |place| place.label.sub('Object#', '') }
  names.reject! { |name| OF_C.include?(name[/[^#.]+\z/]) }
  STACKS[names.reverse.join(';')] = true
end

def now
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :float_millisecond)
end

def spin(first = false)
  note if first
  s = 0
  i = 0
  while i < 20000
    s += i & 3 # HOT
    i += 1
  end
  s
end

def busy(ms)
  finish = now + ms
  spin(true)
  spin while now < finish
end

def recursing(n, ms)
  return recursing(n - 1, ms) if n > 0
  busy(ms)
end

def in_block(ms)
  [1].each { |x| [2].map { |y| busy(ms) } }
end

class Thing
  def method_in_class(ms)
    [3, 1].sort_by { |x| (busy(ms) if x == 3).to_i }
  end
  define_method(:defined) { |ms| busy(ms) }
  def self.of_class(ms)
    busy(ms)
  end
end

module Part
  module Inner
    def mixed_in(ms)
      busy(ms)
    end
  end

  def self.of_module(ms)
    [1].each { busy(ms) }
  end
end

class Thing
  include Part::Inner
end

def rescuing(ms)
  raise 'x'
rescue
  busy(ms)
ensure
  spin
end

def in_fiber(ms)
  f = Fiber.new { |part| loop { busy(part); Fiber.yield } }
  3.times { f.resume(ms / 3) }
end

def größe(ms)
  busy(ms)
end

def passing(ms)
  finish = now + ms
  eval("def short; i = 0; i += 1 while i < 20000; end; short") while now < finish
end

def timed(name)
  start = now
  yield
  OWN[name] = now - start
end

timed('recursing') { recursing(900, 300) }
timed('in_block') { in_block(100) }
timed('Thing#method_in_class') { Thing.new.method_in_class(100) }
timed('Thing.of_class') { Thing.of_class(100) }
timed('Part.of_module') { Part.of_module(100) }
timed('Part::Inner#mixed_in') { Thing.new.mixed_in(100) }
timed('defined') { Thing.new.defined(100) }
timed('rescuing') { rescuing(100) }
timed('in_fiber') { in_fiber(100) }
timed('passing') { passing(100) }
Thread.new { timed('größe') { größe(100) } }.join
OWN.each { |name, ms| puts "#{name} #{ms}" }
STACKS.each_key { |stack| puts "stack #{stack}" }
puts "process #{Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_millisecond)}"
