#include "profile/formats/json_value.h"

#include <inttypes.h>
#include <math.h>

#include "profile/support/output.h"

void swz_json_key(struct swz_json *json, const char *key)
{
	if (json->comma)
		putc(',', json->stream);
	json->comma = true;
	if (key)
		fprintf(json->stream, "\"%s\":", key);
}

void swz_json_string(struct swz_json *json, const char *key, const char *value)
{
	swz_json_key(json, key);
	swz_put_json(json->stream, value ? value : "");
}

void swz_json_integer(struct swz_json *json, const char *key, uint64_t value)
{
	swz_json_key(json, key);
	fprintf(json->stream, "%" PRIu64, value);
}

void swz_json_digits(struct swz_json *json, const char *key, uint64_t value)
{
	swz_json_key(json, key);
	fprintf(json->stream, "\"%" PRIu64 "\"", value);
}

void swz_json_ns(struct swz_json *json, const char *key, int64_t value)
{
	swz_json_integer(json, key, value < 0 ? 0 : (uint64_t)value);
}

void swz_json_milli(struct swz_json *json, const char *key, double value)
{
	swz_json_ns(json, key,
		    isfinite(value) && value < 1e15 ? llround(value * 1000)
						    : 0);
}

void swz_json_flag(struct swz_json *json, const char *key, bool value)
{
	swz_json_key(json, key);
	fputs(value ? "true" : "false", json->stream);
}

void swz_json_open(struct swz_json *json, const char *key, const char *bracket)
{
	swz_json_key(json, key);
	fputs(bracket, json->stream);
	json->comma = false;
}

void swz_json_close(struct swz_json *json, const char *bracket)
{
	fputs(bracket, json->stream);
	json->comma = true;
}

void swz_json_put_next_string(FILE *stream, const char *key, const char *text)
{
	fprintf(stream, ",\"%s\":", key);
	if (text)
		swz_put_json(stream, text);
	else
		fputs("null", stream);
}
