function __swizzle_ctl_processes
    echo all
    swizzle-ctl list 2>/dev/null | awk 'NR > 1 { print $1; print $6 }'
end

function __swizzle_ctl_names
    swizzle-ctl list 2>/dev/null | awk 'NR > 1 { print $6 }'
end

