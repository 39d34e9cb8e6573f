/* A call of the interpreter's loop runs the frame that it was called with and
 * those that this one calls without C in between; the first of them is marked
 * as entry. So the groups of frames and the calls of the loop follow each other
 * in the same order. The loop is _PyEval_EvalFrameDefault, and rb_vm_exec with
 * what that calls for the instructions. Where a frame is made before the loop
 * is called (Ruby), or after that (Python), one of them may be missing for a
 * moment. */

#include "watch/script_frames.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "watch/jit_functions.h"
#include "watch/names/python_frames.h"
#include "watch/names/ruby_frames.h"
#include "watch/proc_task.h"

static const char python_loop[] = "_PyEval_EvalFrameDefault";
static const char ruby_loop[] = "rb_vm_exec";

static size_t read_memory(void *context, uint64_t address, void *into,
			  size_t size)
{
	const struct swz_image *image = context;

	return swz_proc_memory(image->pid, address, into, size);
}

/* -------------------------------------------------------- interpreter */

static bool is_called(const char *program, const char *name)
{
	const char *slash = strrchr(program, '/');

	return strncmp(slash ? slash + 1 : program, name, strlen(name)) == 0;
}

bool swz_script_frames_known(const char *program)
{
	const struct swz_code_file *file = swz_code_file_of(0, program, 0);
	uint64_t address, version;
	char text[4];

	if (swz_code_file_symbol(file, "Py_Version", &address))
		return swz_code_file_bytes(file, address, &version,
					   sizeof(version)) &&
		       swz_python_is_known(version);
	if (swz_code_file_symbol(file, "ruby_version", &address))
		return swz_code_file_bytes(file, address, text, sizeof(text)) &&
		       swz_ruby_is_known(text, sizeof(text));
	if (is_called(program, "python"))
		return swz_code_file_needs(file, SWZ_PYTHON_LIBRARY);
	return is_called(program, "ruby") &&
	       (swz_code_file_needs(file, SWZ_RUBY_LIBRARY) ||
		swz_code_file_needs(file, SWZ_RUBY_OWN_LIBRARY));
}

struct wanted {
	const char *name;
	uint64_t *address;
};

/* The run-time addresses of all of them; false: not all are there. */
static bool find_symbols(const struct swz_image_module *module,
			 const struct wanted *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!swz_code_file_symbol(module->file, wanted[i].name,
					  wanted[i].address))
			return false;
		*wanted[i].address += module->load_bias;
	}
	return true;
}

static void look_for_python(struct swz_image *image,
			    const struct swz_image_module *module)
{
	struct swz_python_places places;
	uint64_t loop;
	const struct wanted wanted[] = {
		{"_PyRuntime", &places.runtime},
		{"Py_Version", &places.version},
		{"PyCode_Type", &places.code_type},
		{"PyUnicode_Type", &places.str_type},
		{python_loop, &loop},
	};

	if (!find_symbols(module, wanted, sizeof(wanted) / sizeof(*wanted)))
		return;
	image->loop_address = loop - module->load_bias;
	image->python = swz_python_open(&places, read_memory, image);
}

static void look_for_ruby(struct swz_image *image,
			  const struct swz_image_module *module)
{
	struct swz_ruby_places places;
	uint64_t loop;
	const struct wanted wanted[] = {
		{"ruby_version", &places.version},
		{"ruby_current_vm_ptr", &places.vm},
		{"rb_cObject", &places.object},
		{ruby_loop, &loop},
	};

	if (!find_symbols(module, wanted, sizeof(wanted) / sizeof(*wanted)))
		return;
	image->loop_address = loop - module->load_bias;
	image->ruby = swz_ruby_open(&places, read_memory, image);
}

static void look_for_interpreters(struct swz_image *image)
{
	while (!image->python && !image->ruby &&
	       image->modules_seen < image->module_count) {
		const struct swz_image_module *module =
			&image->modules[image->modules_seen];

		image->loop_module = (uint32_t)image->modules_seen++;
		look_for_python(image, module);
		if (!image->python)
			look_for_ruby(image, module);
	}
}

/* What rb_vm_exec calls has no name in stripped libraries. */
static void find_inner_loop(struct swz_image *image)
{
	const struct swz_image_module *module =
		&image->modules[image->loop_module];
	uint64_t at = swz_ruby_loop(image->ruby);

	if (!image->inner_loop_address && at >= module->start &&
	    at < module->end)
		image->inner_loop_address = swz_code_file_function(
						    module->file,
						    at - module->load_bias)
						    .start;
}

const struct swz_script_stack *swz_script_frames_read(struct swz_image *image,
						      uint64_t thread_pointer,
						      uint64_t stack_start)
{
	static struct swz_script_stack stack;

	look_for_interpreters(image);
	if (image->python) {
		stack.result = swz_python_frames(image->python, thread_pointer,
						 stack_start, stack.frames,
						 SWZ_MOST_FRAMES, &stack.count);
		return &stack;
	}
	if (!image->ruby)
		return NULL;
	stack.result = swz_ruby_frames(image->ruby, thread_pointer, stack_start,
				       stack.frames, SWZ_MOST_FRAMES,
				       &stack.count);
	find_inner_loop(image);
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

static void put_script(struct putting *p, const struct swz_script_frame *frame)
{
	const struct swz_script_code *f = frame->code;
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

/* How the loops and the groups of frames fit together. */
struct fit {
	size_t bare;    /* loops, the innermost, that have no group */
	size_t at;      /* of the script's frames: the first that has a loop */
	bool is_unread; /* the script's functions are not to be had */
};

static size_t past_group(const struct swz_script_stack *script, size_t at)
{
	while (at < script->count && !script->frames[at].is_entry)
		at++;
	return at + (at < script->count);
}

static struct fit fit_together(const struct swz_image *image,
			       const struct swz_script_stack *script,
			       size_t loops, bool to_root)
{
	size_t groups = count_groups(script);
	struct fit fit = {0};

	if (script->result == SWZ_SCRIPT_LOST) {
		fit.bare = loops;
		fit.is_unread = loops != 0;
		return fit;
	}
	if (!to_root)
		return fit; /* from the innermost on, as far as it goes */
	if (loops == groups || loops == groups + 1) {
		fit.bare = loops - groups;
	} else if (image->ruby && loops + 1 == groups) {
		fit.at = past_group(script, 0);
	} else {
		fit.bare = loops;
		fit.is_unread = loops > 1;
	}
	return fit;
}

/* The function that has the loop, called by the one that stands for it. */
static bool is_inner_loop(const struct swz_image *image,
			  const struct swz_stack_row *rows, size_t count,
			  size_t i)
{
	const struct swz_image_function *f =
		&image->functions[rows[i].function];

	return image->inner_loop_address && i + 1 < count &&
	       f->module == image->loop_module &&
	       f->address == image->inner_loop_address &&
	       is_loop(image, rows[i + 1].function);
}

size_t swz_script_frames_put(struct swz_image *image,
			     const struct swz_script_stack *script,
			     const struct swz_stack_row *rows, size_t count,
			     bool to_root, struct swz_stack_row *to,
			     size_t most)
{
	struct putting p = {image, to, most, 0};
	struct fit fit = fit_together(image, script,
				      count_loops(image, rows, count), to_root);

	image->unread_scripts += fit.is_unread;
	for (size_t i = 0; i < count; i++) {
		bool loop = is_loop(image, rows[i].function);
		size_t end;

		if (!loop || fit.bare) {
			if (fit.bare || !is_inner_loop(image, rows, count, i))
				put(&p, rows[i].function, rows[i].call_site);
			fit.bare -= loop;
			continue;
		}
		/* what it calls is called by the script */
		if (p.count)
			p.to[p.count - 1].call_site = 0;
		end = past_group(script, fit.at);
		for (; fit.at < end; fit.at++)
			put_script(&p, &script->frames[fit.at]);
	}
	return p.count;
}
