# fish completion for swizzle-top(1): options, values, then the program and its
# arguments as they are completed without us.

# The words from the program on; status 1 while there is none.
function __swizzle_top_rest
    set -l words (commandline -opc) (commandline -ct)
    set -e words[1]
    while set -q words[2]
        switch $words[1]
            case --
                set -e words[1]
                break
            case '--*=*'
                set -e words[1]
            case -p --pid -d --delay -o --output -n --rounds --min-percent --backtrace-percent \
                    -r --rate --engine
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

function __swizzle_top_complete
    set -l words (__swizzle_top_rest)
    complete -C (string join ' ' -- (string escape -- $words[1..-2]) $words[-1])
end

complete -c swizzle-top -f -n 'not __swizzle_top_rest >/dev/null' -a '(__fish_complete_command)'
complete -c swizzle-top -f -n '__swizzle_top_rest >/dev/null' -a '(__swizzle_top_complete)'
complete -c swizzle-top -s p -l pid -x -a '(__fish_complete_pids)' -d 'Watch a process that runs already'
complete -c swizzle-top -s b -l batch -f -d 'Print back traces, without a screen'
complete -c swizzle-top -s d -l delay -x -d 'Length of a round (seconds)'
complete -c swizzle-top -s o -l output -r -F -d "The program's output goes to a file"
complete -c swizzle-top -s n -l rounds -x -d 'End after so many rounds'
complete -c swizzle-top -l min-percent -x -d '-b: functions with at least so much of the hits'
complete -c swizzle-top -l backtrace-percent -x -d '-b: back traces with at least so much of their function'
complete -c swizzle-top -s r -l rate -x -d 'Samples a second'
complete -c swizzle-top -l engine -x -a 'perf pause' -d 'Who takes samples'
complete -c swizzle-top -l script -f -d 'Functions of scripts alone'
complete -c swizzle-top -l samples -f -d 'Take samples even under swizzle-run'
complete -c swizzle-top -l follow -f -d 'Child processes, too'
complete -c swizzle-top -l no-follow -f -d 'Not child processes'
complete -c swizzle-top -s V -l version -f -d 'Print the version'
complete -c swizzle-top -s h -l help -f -d 'Print help'
