/* A call of the interpreter's loop, _PyEval_EvalFrameDefault, runs the frame
 * that it was called with and those that this one calls without C in between;
 * the first of them is marked as entry. So the groups of frames and the calls
 * of the loop follow each other in the same order. A loop that has just been
 * called has no frame yet: it stays what it is. */

#include "watch/script_frames.h"

#include <stdlib.h>

#include "profile/support/memory.h"
#include "watch/jit_functions.h"
#include "watch/proc_task.h"

static const char loop_name[] = "_PyEval_EvalFrameDefault";

static size_t read_memory(void *context, uint64_t address, void *into,
			  size_t size)
{
	const struct swz_image *image = context;

	return swz_proc_memory(image->pid, address, into, size);
}

/* -------------------------------------------------------- interpreter */

bool swz_script_frames_known(const char *program)
{
	const struct swz_code_file *file = swz_code_file_of(0, program, 0);
	uint64_t address, version;

	if (swz_code_file_symbol(file, "Py_Version", &address))
		return swz_code_file_bytes(file, address, &version,
					   sizeof(version)) &&
		       swz_python_is_known(version);
	return swz_code_file_needs(file, SWZ_PYTHON_LIBRARY);
}

static void look_in(struct swz_image *image, uint32_t index)
{
	const struct swz_image_module *module = &image->modules[index];
	struct swz_python_places places;
	const struct {
		const char *name;
		uint64_t *address;
	} wanted[] = {
		{"_PyRuntime", &places.runtime},
		{"Py_Version", &places.version},
		{"PyCode_Type", &places.code_type},
		{"PyUnicode_Type", &places.str_type},
		{loop_name, &image->loop_address},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		if (!swz_code_file_symbol(module->file, wanted[i].name,
					  wanted[i].address))
			return;
		*wanted[i].address += module->load_bias;
	}
	image->loop_address -= module->load_bias;
	image->loop_module = index;
	image->python = swz_python_open(&places, read_memory, image);
}

static void look_for_python(struct swz_image *image)
{
	for (; !image->python && image->modules_seen < image->module_count;
	     image->modules_seen++)
		look_in(image, (uint32_t)image->modules_seen);
}

const struct swz_script_stack *swz_script_frames_read(struct swz_image *image,
						      uint64_t thread_pointer,
						      uint64_t stack_start)
{
	static struct swz_script_stack stack;

	look_for_python(image);
	if (!image->python)
		return NULL;
	stack.result = swz_python_frames(image->python, thread_pointer,
					 stack_start, stack.frames,
					 SWZ_MOST_FRAMES, &stack.count);
	return &stack;
}

/* -------------------------------------------------------------- stacks */

struct putting {
	struct swz_image *image;
	struct swz_stack_row *to;
	size_t most, count;
};

static void put(struct putting *p, uint32_t function, uint64_t call_site)
{
	if (p->count < p->most)
		p->to[p->count++] = (struct swz_stack_row){function, call_site};
}

static void put_script(struct putting *p, const struct swz_python_frame *frame)
{
	const struct swz_python_function *f = frame->function;
	char *path = NULL;

	if (f->file[0] != '/' && f->file[0] != '<' && p->image->directory)
		path = swz_print("%s/%s", p->image->directory, f->file);
	put(p,
	    swz_script_function(p->image, f->name, path ? path : f->file,
				f->line),
	    0);
	free(path);
}

static bool is_loop(const struct swz_image *image, uint32_t function)
{
	return image->functions[function].module == image->loop_module &&
	       image->functions[function].address == image->loop_address;
}

static size_t count_loops(const struct swz_image *image,
			  const struct swz_stack_row *rows, size_t count)
{
	size_t loops = 0;

	for (size_t i = 0; i < count; i++)
		loops += is_loop(image, rows[i].function);
	return loops;
}

static size_t count_groups(const struct swz_script_stack *script)
{
	size_t groups = 0;

	for (size_t i = 0; i < script->count; i++)
		groups += script->frames[i].is_entry;
	return groups;
}

size_t swz_script_frames_put(struct swz_image *image,
			     const struct swz_script_stack *script,
			     const struct swz_stack_row *rows, size_t count,
			     bool to_root, struct swz_stack_row *to,
			     size_t most)
{
	struct putting p = {image, to, most, 0};
	size_t loops = count_loops(image, rows, count);
	size_t groups = count_groups(script), bare = 0, at = 0;

	if (script->result == SWZ_PYTHON_LOST || loops < groups ||
	    loops > groups + 1) {
		if (to_root || script->result == SWZ_PYTHON_LOST)
			bare = loops;
	} else if (to_root) {
		bare = loops - groups;
	}
	if (bare > 1 || (bare && script->result == SWZ_PYTHON_LOST))
		image->unread_scripts++;
	for (size_t i = 0; i < count; i++) {
		if (!is_loop(image, rows[i].function) || bare) {
			bool loop = is_loop(image, rows[i].function);

			put(&p, rows[i].function, rows[i].call_site);
			bare -= loop;
			continue;
		}
		/* what it calls is called by the script */
		if (p.count)
			p.to[p.count - 1].call_site = 0;
		for (bool more = true; more && at < script->count; at++) {
			put_script(&p, &script->frames[at]);
			more = !script->frames[at].is_entry;
		}
	}
	return p.count;
}
