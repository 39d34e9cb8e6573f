"""What the other formats of swizzle-dump say of a profile."""

import collections
import csv
import os
import re
import subprocess

OUTSIDE = '[outside]'


class Profile:
    def __init__(self, dump, path, options=()):
        self.dump, self.path, self.options = dump, path, options

    def dumped(self, *options):
        done = subprocess.run([self.dump, '-q', *options, self.path],
                              stdout=subprocess.PIPE, timeout=120, check=True)
        return done.stdout

    def run(self, *options):
        return self.dumped(*self.options, *options)

    def info(self):
        """-f info, which takes none of the options"""
        return self.dumped('-f', 'info').decode('utf-8', 'replace')

    def page(self, directory, *options):
        path = os.path.join(directory, 'page.html')
        self.run('-f', 'html', '-o', path, *options)
        return path

    def table(self, *options):
        """{(name, module): [calls, self, inclusive]} of -f text"""
        rows, names = {}, 0
        # errors: as a browser decodes them
        for line in self.run('-f', 'text', *options).decode(
                'utf-8', 'replace').splitlines():
            if line.startswith('#'):
                continue
            if re.match(r' *(calls|samples) .*function  module$', line):
                names = len(line.split()) - 2
                continue
            parts = line.split(None, names)
            name, module = parts[names].rsplit('  ', 1)
            rows[name, '' if module == '-' else module] = [
                int(part) for part in parts[:3]]
        return rows

    def total(self, *options):
        """(ns, threads, ns of hooks or None) of the heading of -f text"""
        text = self.run('-f', 'text', *options).decode('utf-8', 'replace')
        found = re.search(r'^# total (\d+) ns in (\d+) threads?'
                          r'(?: of processor time|, running or waiting)?'
                          r'(?:, after (\d+) ns of hooks)?;', text, re.M)
        return tuple(part and int(part) for part in found.groups())

    def extremes(self, *options):
        """{(name, module): longest} of -f csv"""
        rows = csv.reader(self.run('-f', 'csv', *options).decode(
            'utf-8', 'replace').splitlines()[1:])
        return {(row[6], '' if row[7] == '-' else row[7]): int(row[4] or 0)
                for row in rows}

    def csv(self, *options):
        """Rows of -f csv as dictionaries"""
        return list(csv.DictReader(self.run('-f', 'csv', *options).decode(
            'utf-8', 'replace').splitlines()))

    def threads(self):
        """[(tid, name)] of -f info"""
        text = self.info()
        block = text[text.index('  tid  '):].split('\n\n')[0]
        return [tuple(line.split()[:2]) for line in
                block.splitlines()[1:] if re.match(r' +\d', line)]

    def caused(self, *options):
        """{path: [calls, self]} of -f tree --causes; '> ' is before a function
        that another thread did"""
        found, stack = {}, []
        for line in self.run('--causes', '-f', 'tree', '-o', '-', *options).decode(
                'utf-8', 'replace').splitlines():
            row = re.match(r' *(\d+) +(\d+) +\d+ +[\d.]+(?: +\d+ +\d+)?  ( *)(\S.*)',
                           line)
            if line.startswith('#') or not row:
                continue
            del stack[len(row[3]) // 2:]
            name = row[4].rsplit('  (in another thread)', 1)
            stack.append('> ' * (len(name) - 1) + name[0].rsplit('  ', 1)[0])
            one = found.setdefault(' '.join(stack[1:]), [0, 0])
            one[0] += int(row[1])
            one[1] += int(row[2])
        return found

    def edges(self, *options):
        """{caller: {callee: [calls, inclusive]}} of -f callgrind, by name"""
        edges = collections.defaultdict(lambda: collections.defaultdict(
            lambda: [0, 0]))
        names, caller, callee, calls = {}, None, None, None
        for line in self.run('-f', 'callgrind', '-o', '-', *options).decode(
                'utf-8', 'replace').splitlines():
            name = re.match(r'(c?fn)=\((\d+)\)(?: (.*))?$', line)
            if name:
                if name[3] is not None:
                    names[name[2]] = name[3]
                if name[1] == 'fn':
                    caller = names[name[2]]
                else:
                    callee = names[name[2]]
            elif line.startswith('calls='):
                calls = int(line[6:].split()[0])
            elif calls is not None:
                entry = edges[caller][callee]
                entry[0] += calls
                entry[1] += int(line.split()[1])
                calls = None
        return edges


def range_of(start, end):
    return ('--from', '%.9f' % (max(start, 0) / 1e9), '--to',
            '%.9f' % (end / 1e9))
