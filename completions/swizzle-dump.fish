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

function __swizzle_dump_keys
    printf '%s\n' function module process thread file line cause rank {function,module,file,line},{thread,process,rank} thread,{parts,files}
end

