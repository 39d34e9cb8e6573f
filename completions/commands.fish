complete -c swizzle-ctl -f
complete -c swizzle-ctl -f -n "not __fish_seen_subcommand_from $commands" -a "$commands"
complete -c swizzle-ctl -f -n "__fish_seen_subcommand_from $commands" -a '(__swizzle_ctl_processes)'
complete -c swizzle-ctl -F -n '__fish_seen_subcommand_from snapshot'
