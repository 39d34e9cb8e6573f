"""The values of a profile that is no trace, a line for each, from what swizzle-dump
writes of them:

    read_context_values.py calls|json|sqlite FILE

A line is FUNCTION, "last" and the whole call, or FUNCTION, a value's name and its
extremes as -f calls has them."""

import json
import sqlite3
import sys


def lines_of(name, arguments, results):
    """What -f calls says: of [name, last, low, high]"""
    given = ', '.join(f'{key} = {last}' for key, last, _, _ in arguments)
    text = f'{name} last: {name}({given})' if arguments else f'{name} last: {name}'
    plain = [value for value in results if not value[0].startswith('*')]
    if plain:
        text += f' = {plain[0][1]}'
    before = {key: last for key, last, _, _ in arguments}
    for key, last, _, _ in results:
        if key.startswith('*'):
            text += f'  {key}: {before[key]} -> {last}' if before.get(key, last) != last \
                else f'  {key} = {last}'
    yield text
    for key, _, low, high in arguments + results:
        if low is not None:
            yield f'{name} {key}: {low}' + (f' to {high}' if high != low else '')


def calls(path):
    name = None
    with open(path, encoding='utf-8') as file:
        for line in file:
            line = line.rstrip('\n')
            if line.startswith('#'):
                name = line[2:].split(':')[0]
            elif line.startswith('  '):
                yield f'{name} {line[2:]}'


def of_json(path):
    with open(path, encoding='utf-8') as file:
        for part in json.load(file)['parts']:
            for context in part.get('values', []):
                rows = [[[value['name'], value.get('last'), value.get('low'),
                          value.get('high')] for value in context[moment]]
                        for moment in ('arguments', 'results')]
                yield from lines_of(context['path'][-1], *rows)


def sqlite(path):
    base = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
    contexts = {}
    for context, name, moment, key, last, low, high in base.execute(
            '''SELECT v.site, f.name, v.moment, v.name, v.last, v.low, v.high
            FROM context_values v JOIN contexts c ON c.id = v.context
            JOIN functions f ON f.id = c.function ORDER BY v.rowid'''):
        of = contexts.setdefault(context, (name, [], []))
        of[1 if moment == 'entry' else 2].append([key, last, low, high])
    for name, arguments, results in contexts.values():
        yield from lines_of(name, arguments, results)


print(*sorted({'calls': calls, 'json': of_json, 'sqlite': sqlite}[sys.argv[1]](
    sys.argv[2])), sep='\n')
