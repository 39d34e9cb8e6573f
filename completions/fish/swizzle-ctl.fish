# fish completion for swizzle-ctl(1): options, commands, then processes.

set -l commands list status start stop snapshot mark detach

function __swizzle_ctl_processes
    echo all
    swizzle-ctl list 2>/dev/null | awk 'NR > 1 { print $1; print $6 }'
end

complete -c swizzle-ctl -f
complete -c swizzle-ctl -f -n "not __fish_seen_subcommand_from $commands" -a "$commands"
complete -c swizzle-ctl -f -n "__fish_seen_subcommand_from $commands" -a '(__swizzle_ctl_processes)'
complete -c swizzle-ctl -F -n '__fish_seen_subcommand_from snapshot'
complete -c swizzle-ctl -s n -l name -x -d 'Processes of this name'
complete -c swizzle-ctl -l tree -x -a '(__fish_complete_pids)' -d 'This process and those that it has started'
complete -c swizzle-ctl -l all -f -d 'All of yours'
complete -c swizzle-ctl -l for -x -d 'start: stop again after this time'
complete -c swizzle-ctl -l every -x -d 'start --for: start again each time this has passed'
complete -c swizzle-ctl -l json -f -d 'list, status: for programs'
complete -c swizzle-ctl -s v -l verbose -f -d 'start, stop, detach: say how long threads were stopped'
complete -c swizzle-ctl -s V -l version -f -d 'Print the version'
complete -c swizzle-ctl -s h -l help -f -d 'Print help'
