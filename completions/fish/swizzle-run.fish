# fish completion for swizzle-run(1): options, values, then the program and its
# arguments as they are completed without us.

# The words from the program on; status 1 while there is none.
function __swizzle_run_rest
    set -l words (commandline -opc) (commandline -ct)
    set -e words[1]
    while set -q words[2]
        switch $words[1]
            case --
                set -e words[1]
                break
            case '--*=*'
                set -e words[1]
            case -o --output -m --mode -F --filter -N --notrace -H --hide -C --caller -M --module \
                    -L --location -Z --min-size -D --depth --start-at --stop-at --recursion --timing -t \
                    --argument -A --string-bytes --config --min-time --max-size --max-memory -r --rate --engine --event \
                    --stack-bytes -p --pid --for
                set -e words[1]
                set -e words[1]
            case '-*'
                set -e words[1]
            case '*'
                break
        end
    end
    set -q words[1]; or return 1
    string match -q -- '-*' $words[1]; and return 1
    string join -- \n $words
end

function __swizzle_run_complete
    set -l words (__swizzle_run_rest)
    complete -C (string join ' ' -- (string escape -- $words[1..-2]) $words[-1])
end

complete -c swizzle-run -f -n 'not __swizzle_run_rest >/dev/null' -a '(__fish_complete_command)'
complete -c swizzle-run -f -n '__swizzle_run_rest >/dev/null' -a '(__swizzle_run_complete)'
complete -c swizzle-run -s o -l output -r -F -d 'Write the profile to FILE'
complete -c swizzle-run -s m -l mode -x -a 'profile trace count sample both' -d 'What to record'
complete -c swizzle-run -s r -l rate -x -d 'Sample: samples a second'
complete -c swizzle-run -l engine -x -a 'perf pause' -d 'Sample: who takes samples'
complete -c swizzle-run -l event -x -a 'cpu-clock task-clock cycles' -d 'Sample: what the kernel counts'
complete -c swizzle-run -l no-wall -d 'Sample: do not look where threads wait'
complete -c swizzle-run -l stack-bytes -x -d 'Sample: how much of the stack is copied'
complete -c swizzle-run -s p -l pid -x -a '(__fish_complete_pids)' -d 'A process that runs'
complete -c swizzle-run -l for -x -d 'With -p: for this time'
complete -c swizzle-run -s F -l filter -x -d 'Only functions that match and what they call'
complete -c swizzle-run -s N -l notrace -x -d 'Not functions that match nor what they call'
complete -c swizzle-run -s H -l hide -x -d 'Not functions that match'
complete -c swizzle-run -s C -l caller -x -d 'Show only functions that match, and what leads to them'
complete -c swizzle-run -s M -l module -x -d 'Only these modules'
complete -c swizzle-run -s L -l location -x -d 'Only functions of these source files'
complete -c swizzle-run -s Z -l min-size -x -d 'Only functions of this size and above'
complete -c swizzle-run -s A -l argument -x -d 'Record arguments and results'
complete -c swizzle-run -l args -f -d 'Record arguments by debug information'
complete -c swizzle-run -l string-bytes -x -d 'How much of a string is recorded'
complete -c swizzle-run -l config -r -F -d 'Configuration: what is recorded'
complete -c swizzle-run -s D -l depth -x -d 'Only the first levels of calls'
complete -c swizzle-run -l recursion -x -d 'How often a function may stand in a stack'
complete -c swizzle-run -l timing -x -a 'exact sampled' -d 'Which calls are timed'
complete -c swizzle-run -s t -l min-time -x -d 'Trace: leave shorter calls out'
complete -c swizzle-run -l max-size -x -d 'Trace: stop at so many bytes'
complete -c swizzle-run -l ring -f -d 'Trace: keep the newest events'
complete -c swizzle-run -l start-at -x -d 'Start recording at a call'
complete -c swizzle-run -l stop-at -x -d 'Stop recording at a call'
complete -c swizzle-run -l off -f -d 'Begin with recording stopped'
complete -c swizzle-run -l switches -f -d 'Trace: record when threads wait'
complete -c swizzle-run -l flows -f -d 'Trace: record what wakes what'
complete -c swizzle-run -l prints -f -d 'Trace: record the lines that are printed'
complete -c swizzle-run -l imports -f -d 'Time calls into other libraries'
complete -c swizzle-run -l max-memory -x -d 'Bound the memory for records'
complete -c swizzle-run -l follow -f -d 'Profile child processes'
complete -c swizzle-run -l no-follow -f -d 'Do not profile child processes'
complete -c swizzle-run -l cache -f -d 'Use the cache of plans'
complete -c swizzle-run -l no-cache -f -d 'Do not use the cache'
complete -c swizzle-run -l summary -f -d 'End with a line that says what was recorded'
complete -c swizzle-run -l no-summary -f -d 'End without that line'
complete -c swizzle-run -l report -f -d 'Show the result at the end'
complete -c swizzle-run -l list -f -d 'List what would be hooked, and exit'
complete -c swizzle-run -s v -l verbose -f -d 'Say what is done'
complete -c swizzle-run -s q -l quiet -f -d 'Say nothing'
complete -c swizzle-run -s V -l version -f -d 'Print the version'
complete -c swizzle-run -s h -l help -f -d 'Print help'
