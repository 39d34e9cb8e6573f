# fish completion for swizzle-dump(1): options, values, formats as -f help has them,
# the threads of the profile, and files.

function __swizzle_dump_formats
    swizzle-dump -f help 2>/dev/null | string replace -r ' +' \t
end

# Of the profiles in the command line, or of the newest profile.
function __swizzle_dump_threads
    set -l files
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; or not test -f $word; or set -a files $word
    end
    swizzle-dump -q -f info $files 2>/dev/null | awk '
        /^ +tid +name/ { on = 1; next } /^contexts:/ || !NF { on = 0 }
        on { print $1 "\t" $2 }'
end

# The same of processes.
function __swizzle_dump_processes
    set -l files
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; or not test -e $word; or set -a files $word
    end
    swizzle-dump -q -f info $files 2>/dev/null | awk '
        /^pid: / { print $2 } /^executable: / { sub(/.*\//, ""); print }'
end

complete -c swizzle-dump -s f -l format -x -a '(__swizzle_dump_formats)' -d 'Output format'
complete -c swizzle-dump -s o -l output -r -F -d 'Write to FILE'
complete -c swizzle-dump -l by -x -a 'function module process thread file line rank {function,module,file,line},{thread,process,rank}' -d 'What each row is'
complete -c swizzle-dump -l push -x -d 'Send the profiles to a server'
complete -c swizzle-dump -l process -x -a '(__swizzle_dump_processes)' -d 'Only these processes'
complete -c swizzle-dump -l merge-into -r -d 'Add the profiles to FILE'
complete -c swizzle-dump -l thread-parts -d 'One part per thread'
complete -c swizzle-dump -l separate-threads -d 'One file per thread'
complete -c swizzle-dump -l tid -x -a '(__swizzle_dump_threads)' -d 'Only this thread'
complete -c swizzle-dump -l since -r -F -d 'Only what happened after a snapshot'
complete -c swizzle-dump -l from -x -d 'Of a trace, from this time on'
complete -c swizzle-dump -l to -x -d 'Of a trace, up to this time'
complete -c swizzle-dump -l no-compensate -d 'Do not subtract the cost of the hooks'
complete -c swizzle-dump -l demangle -x -a 'no simple full' -d 'How to show names'
complete -c swizzle-dump -s F -l filter -x -d 'Only functions that match'
complete -c swizzle-dump -s N -l notrace -x -d 'Not functions that match nor what they call'
complete -c swizzle-dump -s H -l hide -x -d 'Not functions that match'
complete -c swizzle-dump -s C -l caller -x -d 'Only functions that match, and what leads to them'
complete -c swizzle-dump -l script -d 'Only functions of scripts'
complete -c swizzle-dump -s t -l min-time -x -d 'Events: no shorter calls'
complete -c swizzle-dump -s D -l depth -l max-depth -x -d 'Events, calls: only the first levels'
complete -c swizzle-dump -l sample-events -x -d 'Events: one call of so many'
complete -c swizzle-dump -l at -x -d 'Calls: the stacks at this moment'
complete -c swizzle-dump -l blame -d 'Calls: who returned each error first'
complete -c swizzle-dump -l calls-of -x -d 'Calls: the single calls of these functions'
complete -c swizzle-dump -l file-per-invocation -d 'Calls: a file for each call of -F, and an index'
complete -c swizzle-dump -l ring-clock -x -a 'time calls' -d 'Rings: what runs clockwise'
complete -c swizzle-dump -l ring-paths -x -a 'callees arguments' -d 'Rings: what makes the colours'
complete -c swizzle-dump -s n -x -d 'At most so many rows'
complete -c swizzle-dump -s s -l sort -x -a 'self incl cpu waiting calls name min max start' -d 'Sort by'
complete -c swizzle-dump -l percent-limit -x -d 'Leave out rows below so many percent'
complete -c swizzle-dump -l bottom-up -d 'Tree: each function with its callers'
complete -c swizzle-dump -l diff -r -F -d 'Compare with an older profile'
complete -c swizzle-dump -l config -r -F -d 'Configuration: which calls are shown, and how'
complete -c swizzle-dump -l times -r -F -d 'Take the times from a sampled run'
complete -c swizzle-dump -l no-times -d 'Not the times of samples'
complete -c swizzle-dump -l embed -d 'Add names and lines to the profile'
complete -c swizzle-dump -l no-embed -d 'Make an archive without names'
complete -c swizzle-dump -l debug-dir -x -a '(__fish_complete_directories)' -d 'Look for debug files in DIR, too'
complete -c swizzle-dump -l symfs -x -a '(__fish_complete_directories)' -d 'Look for programs below DIR'
complete -c swizzle-dump -l color -x -a 'auto always never' -d 'When to use colours'
complete -c swizzle-dump -l no-source -d 'Html: leave the source out'
complete -c swizzle-dump -l fail-above -x -d 'With --diff: fail if something is so much slower'
complete -c swizzle-dump -l no-pager -d 'Print long tables as they are'
complete -c swizzle-dump -l no-debuginfod -d 'Do not ask debuginfod servers'
complete -c swizzle-dump -s q -l quiet -d 'No warnings'
complete -c swizzle-dump -s V -l version -d 'Print the version'
complete -c swizzle-dump -s h -l help -d 'Print help'
