/* The frames of the pages (src/html/assemble), as bytes of swizzle-dump. */

	.section .rodata
	.globl	swz_page_head, swz_page_head_end
	.globl	swz_page_tail, swz_page_tail_end
swz_page_head:
	.incbin	"build/html/head"
swz_page_head_end:
	.byte	0
swz_page_tail:
	.incbin	"build/html/tail"
swz_page_tail_end:
	.byte	0
	.globl	swz_graph_head, swz_graph_head_end
	.globl	swz_graph_tail, swz_graph_tail_end
swz_graph_head:
	.incbin	"build/html/graph-head"
swz_graph_head_end:
	.byte	0
swz_graph_tail:
	.incbin	"build/html/graph-tail"
swz_graph_tail_end:
	.byte	0
	.globl	swz_calls_head, swz_calls_head_end
	.globl	swz_calls_tail, swz_calls_tail_end
swz_calls_head:
	.incbin	"build/html/calls-head"
swz_calls_head_end:
	.byte	0
swz_calls_tail:
	.incbin	"build/html/calls-tail"
swz_calls_tail_end:
	.byte	0
	.globl	swz_zoom_script
swz_zoom_script:
	.incbin	"src/html/zoom.js"
	.byte	0
	.section .note.GNU-stack, "", @progbits
