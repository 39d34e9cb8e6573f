# The words from the program on; status 1 while there is none.
function @FUNCTION@_rest
    set -l words (commandline -opc) (commandline -ct)
    set -e words[1]
    while set -q words[2]
        if test "$words[1]" = --
            set -e words[1]
            break
        end
        string match -q -- '-*' $words[1]; or break
        @FUNCTION@_takes_value $words[1]; and set -e words[1]
        set -e words[1]
    end
    set -q words[1]; or return 1
    string match -q -- '-*' $words[1]; and return 1
    string join -- \n $words
end

# As they are completed without us.
function @FUNCTION@_complete
    set -l words (@FUNCTION@_rest)
    complete -C (string join ' ' -- (string escape -- $words[1..-2]) $words[-1])
end

complete -c @TOOL@ -f -n 'not @FUNCTION@_rest >/dev/null' -a '(__fish_complete_command)'
complete -c @TOOL@ -f -n '@FUNCTION@_rest >/dev/null' -a '(@FUNCTION@_complete)'
