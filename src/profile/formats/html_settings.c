#include "profile/formats/html_settings.h"

#include "profile/formats/page_block.h"

#define LEVEL 6 /* of compression */

void swz_html_put_settings(FILE *stream, const struct swz_view *view,
			   const struct swz_catalog *catalog)
{
	struct swz_page_block *block = NULL;
	uint32_t i, last = 0;

	for (i = 0; view && view->rules && i < catalog->function_count; i++) {
		const struct swz_settings *settings = swz_rules_of(view->rules,
								   catalog, i);

		if (!settings || (!settings->prefix && !settings->colour))
			continue;
		if (!block)
			block = swz_page_block_begin(stream, "settings", LEVEL);
		swz_page_block_number(block, i - last);
		last = i;
		swz_page_block_text(block,
				    settings->prefix ? settings->prefix : "");
		swz_page_block_text(block,
				    settings->colour ? settings->colour : "");
	}
	if (block)
		swz_page_block_end(block);
}
