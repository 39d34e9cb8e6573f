#ifndef SWZ_PROFILE_NAMES_CATALOG_NAMES_H
#define SWZ_PROFILE_NAMES_CATALOG_NAMES_H

#include <stdbool.h>

/* The name of a function, printable, cut to WIDTH columns of a terminal; 0: as
 * it is. What is left out is marked by an ellipsis, "..." without UTF8. First
 * go the parameters, then the innermost template arguments and those around
 * them, then the outermost scopes:
 *
 *   a::map<b::pair<int, char>, c>::insert(d const&)
 *   a::map<b::pair<int, char>, c>::insert(...)
 *   a::map<b::pair<...>, c>::insert(...)
 *   a::map<...>::insert(...)
 *   ...::insert(...)
 *
 * The function's own name always stays: the result may be wider. To be freed.
 */
char *swz_short_name(const char *name, unsigned int width, bool utf8);

#endif
