#ifndef SWZ_PROFILE_FORMATS_RINGS_LAYOUT_H
#define SWZ_PROFILE_FORMATS_RINGS_LAYOUT_H

/* Where the rings are in the picture: graphviz decides. */

#include "profile/formats/rings_calls.h"

#define SWZ_RINGS_BOX_HEIGHT 122.0 /* pixels */

struct swz_rings_point {
	double x, y; /* pixels, from the top left */
};

/* A line of Bezier curves: a point, then three for each. */
struct swz_rings_line {
	uint32_t caller, callee;
	struct swz_rings_point *points;
	size_t count;
};

struct swz_rings_layout {
	double width, height;
	struct swz_rings_point *middles; /* of the rings' boxes */
	struct swz_rings_line *lines;
	size_t line_count;
	char *text; /* graphviz' answer */
};

/* The width of the box that a ring is given, with its name. */
double swz_rings_box_width(const struct swz_rings *rings, size_t ring);

/* Runs graphviz and waits for it. Returns NULL, or why there is no layout, to
 * be freed. Free the layout in either case. */
char *swz_rings_lay_out(struct swz_rings_layout *layout,
			const struct swz_rings *rings) SWZ_MUST_CHECK;
void swz_rings_layout_free(struct swz_rings_layout *layout);

#endif
