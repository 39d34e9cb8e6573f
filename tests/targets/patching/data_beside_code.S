/* Functions with data before them or in them, which as code would mean something
 * else. */

	/* clang's -fsanitize=function has callers look at the first bytes */
	FUNC	has_signature
	.byte	0xeb, 0x06, 'v', '2'
	.long	1000
	movl	has_signature(%rip), %eax
	xorl	$0x327606eb, %eax
	addl	4 + has_signature(%rip), %eax
	addl	%edi, %eax
	ret
	END	has_signature

	/* what stands before it is no code; as code it would lead there */
	.balign	16, 0xcc
	.asciz	"a table"
	.ascii	"Of a table, by those who have put it here, <"
1:	.ascii	"pA"			/* jo behind_a_text + 2 */
	.asciz	"@example.org>"
	.skip	1b + 65 - ., 0x90
	FUNC	behind_a_text, 1
	leal	1(%rdi), %eax
	subl	$2, %eax
	ret
	END	behind_a_text

	/* nor is this, but it is too short to be sure */
	.balign	16, 0xcc
	.byte	0x06
1:	.asciz	"pA has"
	.skip	1b + 65 - ., 0x90
	FUNC	behind_a_word, 1
	leal	1(%rdi), %eax
	subl	$2, %eax
	ret
	END	behind_a_word
