#include "runtime/record/file_mapping.h"

struct swz_file_header *swz_file;
