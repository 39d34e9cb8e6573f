/* JSON is written value by value, with a comma before all but the first value
 * of an array or object. The events of a trace go through here, so the stream
 * is not locked for each of them. */

#include "profile/formats/common/json_writer.h"

#include <inttypes.h>
#include <math.h>

#include "util/output.h"

void swz_json_key(struct swz_json *json, const char *key)
{
	if (json->comma)
		putc_unlocked(',', json->stream);
	if (json->newline)
		putc_unlocked('\n', json->stream);
	json->comma = true;
	json->newline = false;
	if (!key)
		return;
	putc_unlocked('"', json->stream);
	fputs_unlocked(key, json->stream);
	fputs_unlocked("\":", json->stream);
}

void swz_json_string(struct swz_json *json, const char *key, const char *value)
{
	swz_json_key(json, key);
	swz_put_json(json->stream, value ? value : "");
}

void swz_json_null(struct swz_json *json, const char *key)
{
	swz_json_key(json, key);
	fputs_unlocked("null", json->stream);
}

void swz_json_text(struct swz_json *json, const char *key, const char *value)
{
	if (value)
		swz_json_string(json, key, value);
	else
		swz_json_null(json, key);
}

void swz_json_flag(struct swz_json *json, const char *key, bool value)
{
	swz_json_key(json, key);
	fputs_unlocked(value ? "true" : "false", json->stream);
}

void swz_json_integer(struct swz_json *json, const char *key, uint64_t value)
{
	swz_json_key(json, key);
	if (value <= INT64_MAX)
		swz_put_integer(json->stream, (int64_t)value);
	else
		fprintf(json->stream, "%" PRIu64, value);
}

void swz_json_number(struct swz_json *json, const char *key, int64_t value)
{
	swz_json_key(json, key);
	swz_put_integer(json->stream, value);
}

void swz_json_known(struct swz_json *json, const char *key, bool known,
		    int64_t value)
{
	if (known)
		swz_json_number(json, key, value);
	else
		swz_json_null(json, key);
}

void swz_json_digits(struct swz_json *json, const char *key, uint64_t value)
{
	swz_json_key(json, key);
	fprintf(json->stream, "\"%" PRIu64 "\"", value);
}

void swz_json_ns(struct swz_json *json, const char *key, int64_t value)
{
	swz_json_number(json, key, value < 0 ? 0 : value);
}

void swz_json_milli(struct swz_json *json, const char *key, double value)
{
	swz_json_ns(json, key,
		    isfinite(value) && value < 1e15 ? llround(value * 1000)
						    : 0);
}

void swz_json_round(struct swz_json *json, const char *key, double value)
{
	swz_json_key(json, key);
	fprintf(json->stream, "%.0f", value);
}

void swz_json_open(struct swz_json *json, const char *key, const char *bracket)
{
	swz_json_key(json, key);
	fputs_unlocked(bracket, json->stream);
	json->comma = false;
}

void swz_json_close(struct swz_json *json, const char *bracket)
{
	fputs_unlocked(bracket, json->stream);
	json->comma = true;
}

void swz_json_command(struct swz_json *json, const char *key,
		      const struct swz_profile *profile)
{
	size_t i;

	swz_json_open(json, key, "[");
	for (i = 0; i < profile->argument_count; i++)
		swz_json_string(json, NULL, profile->arguments[i]);
	swz_json_close(json, "]");
}
