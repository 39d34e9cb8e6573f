_swizzle_ctl_rest() {
	local -a found

	if [[ $words[CURRENT-1] == snapshot ]]; then
		_files
	elif [[ $words[CURRENT-1] == mark ]]; then
		_message text
	else
		found=(all ${(f)"$(swizzle-ctl list 2>/dev/null | awk 'NR > 1 { print $1; print $6 }')"})
		compadd -a found
	fi
}

_swizzle_ctl_names() {
	compadd ${(f)"$(swizzle-ctl list 2>/dev/null | awk 'NR > 1 { print $6 }')"}
}

