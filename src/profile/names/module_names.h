#ifndef SWZ_PROFILE_NAMES_MODULE_NAMES_H
#define SWZ_PROFILE_NAMES_MODULE_NAMES_H

/* What the modules of a catalog are called where they are shown. */

#include "profile/names/catalog.h"

/* To be called when all modules are there; again after more were added. */
void swz_catalog_name_modules(struct swz_catalog *catalog);

#endif
