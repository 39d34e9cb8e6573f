"""Reads a file of -f firefox by the rules of the Firefox Profiler's processed
format, version 58: each table's columns are as long as it says, and each number
is one of an entry that is there. Prints each function's running time in ns, then
the markers.

    read_firefox.py FILE
"""
import collections
import json
import sys

COLUMNS = {
    'samples': {'stack', 'time', 'weight'},
    'markers': {'data', 'name', 'startTime', 'endTime', 'phase', 'category'},
    'stackTable': {'frame', 'prefix'},
    'frameTable': {'address', 'inlineDepth', 'category', 'subcategory', 'func',
                   'nativeSymbol', 'innerWindowID', 'line', 'column'},
    'funcTable': {'name', 'isJS', 'relevantForJS', 'resource', 'source',
                  'lineNumber', 'columnNumber'},
    'resourceTable': {'lib', 'name', 'host', 'type'},
    'nativeSymbols': {'libIndex', 'address', 'name', 'functionSize'},
}


def check_table(name, table):
    extra = {'weightType'} if name == 'samples' else set()
    assert set(table) == COLUMNS[name] | {'length'} | extra, (name, set(table))
    for column in COLUMNS[name]:
        assert len(table[column]) == table['length'], (name, column)


def check_numbers(numbers, limit, none=()):
    for number in numbers:
        assert number in none or 0 <= number < limit, (number, limit)


def check_thread(thread, profile):
    for name in COLUMNS:
        check_table(name, thread[name])
    strings = len(profile['shared']['stringArray'])
    stacks, frames, funcs = (thread['stackTable'], thread['frameTable'],
                             thread['funcTable'])
    check_numbers(stacks['frame'], frames['length'])
    for i, prefix in enumerate(stacks['prefix']):
        assert prefix is None or 0 <= prefix < i
    check_numbers(frames['func'], funcs['length'])
    check_numbers(frames['category'], len(profile['meta']['categories']))
    check_numbers(funcs['name'], strings)
    check_numbers(funcs['resource'], thread['resourceTable']['length'], (-1,))
    check_numbers(funcs['source'], profile['shared']['sources']['length'],
                  (None,))
    check_numbers(thread['resourceTable']['lib'], len(profile['libs']))
    check_numbers(thread['resourceTable']['name'], strings)
    samples = thread['samples']
    assert samples['weightType'] == 'tracing-ms'
    check_numbers(samples['stack'], stacks['length'], (None,))
    assert samples['time'] == sorted(samples['time'])
    schema = {s['name']: s for s in profile['meta']['markerSchema']}
    markers = thread['markers']
    check_numbers(markers['name'], strings)
    for i, data in enumerate(markers['data']):
        fields = {f['key'] for f in schema[data['type']]['fields']}
        assert set(data) - {'type', 'cause'} == fields, data
        check_numbers([data[f] for f in fields], strings)
        if 'cause' in data:
            check_numbers([data['cause']['stack']], stacks['length'])
        if markers['phase'][i] == 1:
            assert markers['endTime'][i] >= markers['startTime'][i]
        else:
            assert markers['phase'][i] == 0 and markers['endTime'][i] is None


def main():
    profile = json.load(open(sys.argv[1]), parse_float=lambda text: int(
        text.replace('.', '')))
    strings = profile['shared']['stringArray']
    assert profile['meta']['preprocessedProfileVersion'] == 58
    assert any(c['color'] == 'grey' for c in profile['meta']['categories'])
    assert len(set(strings)) == len(strings)
    sources = profile['shared']['sources']
    check_numbers(sources['filename'], len(strings))
    assert len({(t['pid'], t['tid']) for t in profile['threads']}) == len(
        profile['threads'])
    sums = collections.Counter()
    for thread in profile['threads']:
        check_thread(thread, profile)
        for stack, weight in zip(thread['samples']['stack'],
                                 thread['samples']['weight']):
            name = '[outside]'
            if stack is not None:
                frame = thread['stackTable']['frame'][stack]
                name = strings[thread['funcTable']['name'][
                    thread['frameTable']['func'][frame]]]
            sums[name] += weight
        markers = thread['markers']
        for i, data in enumerate(markers['data']):
            print('M', thread['tid'], strings[markers['name'][i]],
                  strings[data['text']],
                  strings[data['flow']] if 'flow' in data else '-', sep='\t')
    for name, ns in sorted(sums.items()):
        print('F', ns, name, sep='\t')


if __name__ == '__main__':
    main()
