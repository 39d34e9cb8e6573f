"""Reads a request of OpenTelemetry's profiles, as a server does, with the code
that protoc makes of otlp.proto. Prints function, calls and time of each function,
and below that what the resource and the mappings say; complains of what no server
could use.

    PYTHONPATH=DIRECTORY-OF-otlp_pb2 read_otlp.py FILE
"""
import collections
import sys

import otlp_pb2


def value_of(any_value, strings):
    kind = any_value.WhichOneof('value')
    value = getattr(any_value, kind)
    # a text is in the dictionary, once
    assert kind != 'string_value', value
    return strings[value] if kind == 'string_value_strindex' else value


def read(data):
    request = otlp_pb2.Request()
    request.ParseFromString(data)
    d = request.dictionary
    strings = d.string_table
    # entry 0 of each table is its default
    for table in (d.mapping_table, d.location_table, d.function_table,
                  d.link_table, d.attribute_table, d.stack_table):
        assert table[0] == type(table[0])(), table[0]
    assert strings[0] == ''
    assert len(set(strings)) == len(strings)
    for message in (request, d):
        assert not message.UnknownFields() if hasattr(
            message, 'UnknownFields') else True
    assert len(request.resource_profiles) == 1
    for attribute in request.resource_profiles[0].resource.attributes:
        assert attribute.key_strindex and not attribute.key, attribute
    resource = {strings[a.key_strindex]: value_of(a.value, strings) for a in
                request.resource_profiles[0].resource.attributes}
    scope = request.resource_profiles[0].scope_profiles[0]
    assert scope.scope.name == 'swizzle'
    kinds = {}
    ids = set()
    threads = set()
    for profile in scope.profiles:
        kind = (strings[profile.sample_type.type_strindex],
                strings[profile.sample_type.unit_strindex])
        assert len(profile.profile_id) == 16 and any(profile.profile_id)
        ids.add(profile.profile_id)
        assert profile.time_unix_nano > 1e18 and profile.duration_nano > 0
        sums = collections.Counter()
        for sample in profile.samples:
            stack = d.stack_table[sample.stack_index]
            assert stack.location_indices and len(sample.values) == 1
            for index in stack.location_indices:
                location = d.location_table[index]
                assert index and location.lines
                for line in location.lines:
                    assert line.function_index
                    assert strings[d.function_table[
                        line.function_index].name_strindex]
            # the innermost frame: of it the function, not what is inlined
            line = d.location_table[stack.location_indices[0]].lines[-1]
            function = d.function_table[line.function_index]
            sums[strings[function.name_strindex]] += sample.values[0]
            attributes = {strings[d.attribute_table[i].key_strindex]:
                          value_of(d.attribute_table[i].value, strings)
                          for i in sample.attribute_indices}
            threads.add((attributes.get('process.pid'),
                         attributes.get('thread.id')))
        kinds[kind] = sums
    assert len(ids) == len(scope.profiles)
    mappings = {}
    for mapping in d.mapping_table[1:]:
        keys = {strings[d.attribute_table[i].key_strindex]:
                value_of(d.attribute_table[i].value, strings)
                for i in mapping.attribute_indices}
        mappings[strings[mapping.filename_strindex]] = keys.get(
            'process.executable.build_id.gnu', '-')
    return kinds, resource, mappings, threads


def main():
    kinds, resource, mappings, threads = read(open(sys.argv[1], 'rb').read())
    (time, times), (count, counts), *waits = kinds.items()
    assert time[1] == 'nanoseconds' and count[1] == 'count'
    for name in sorted(set(times) | set(counts)):
        print('F', counts[name], times[name], name)
    print('K', time[0], count[0])
    for (kind, unit), sums in waits:
        assert (kind, unit) == ('off_cpu', 'nanoseconds')
        for name in sorted(sums):
            print('W', sums[name], name)
    print('T', len(threads))
    for key, value in sorted(resource.items()):
        print('R', key, value)
    for path, build_id in sorted(mappings.items()):
        print('M', build_id, path)


if __name__ == '__main__':
    main()
