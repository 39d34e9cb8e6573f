/* libcurl is loaded when it is needed: with all that it needs itself it would
 * take longer to load than a table takes to print.
 *
 * Whoever lists processes sees command lines: credentials come from the
 * environment or a file. */

#include "tools/dump/reports.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "profile/formats/common/section.h"
#include "profile/formats/exports/exports.h"
#include "util/memory.h"
#include "util/output.h"

#define ATTEMPTS 5
#define FIRST_PAUSE_MS 500
#define MOST_PAUSE_MS 30000
#define ANSWER_BYTES 400u
#define TIMEOUT_S 60L

struct curl {
	void *library;
	CURL *(*easy_init)(void);
	CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
	CURLcode (*easy_perform)(CURL *);
	CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
	void (*easy_cleanup)(CURL *);
	const char *(*easy_strerror)(CURLcode);
	char *(*easy_escape)(CURL *, const char *, int);
	struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
};

/* The request that is sent. */
struct request {
	char *url;
	const char *content_type;
	bool gzipped;
	uint8_t *body;
	size_t size;
};

struct answer {
	long status;
	long retry_after_s;
	char text[ANSWER_BYTES];
	size_t length;
	CURLcode error;
};

enum kind { OTLP, PYROSCOPE, PARCA };

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t size = strlen(end);

	return length >= size && memcmp(text + length - size, end, size) == 0;
}

static enum kind kind_of(const char *url)
{
	size_t length = strcspn(url, "?#");

	if (ends_with(url, length, "/ingest"))
		return PYROSCOPE;
	return ends_with(url, length, "/writeraw") ? PARCA : OTLP;
}

const char *swz_push_format(const char *url)
{
	return kind_of(url) == OTLP ? "otlp" : "pprof";
}

const char *swz_push_problem(const char *url)
{
	const char *host = strstr(url, "://");

	if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
		return "a URL begins with http:// or https://";
	host += 3;
	if (memchr(host, '@', strcspn(host, "/?#")))
		return "anybody can read a password in a command line: put a "
		       "token into SWIZZLE_PUSH_TOKEN, or its file's name "
		       "into SWIZZLE_PUSH_TOKEN_FILE";
	return *host && *host != '/' ? NULL : "the URL has no host";
}

/* ------------------------------------------------------------------ curl */

static bool load(struct curl *curl)
{
	static const char *const names[] = {"libcurl.so.4",
					    "libcurl-gnutls.so.4"};
	size_t i;

	*curl = (struct curl){0};
	for (i = 0; i < 2 && !curl->library; i++)
		curl->library = dlopen(names[i], RTLD_NOW);
	if (!curl->library) {
		swz_dump_complain("--push needs libcurl (Debian: libcurl4): %s",
				  dlerror());
		return false;
	}
#define SYMBOL(name) \
	*(void **)(void *)&curl->name = dlsym(curl->library, "curl_" #name)
	SYMBOL(easy_init);
	SYMBOL(easy_setopt);
	SYMBOL(easy_perform);
	SYMBOL(easy_getinfo);
	SYMBOL(easy_cleanup);
	SYMBOL(easy_strerror);
	SYMBOL(easy_escape);
	SYMBOL(slist_append);
#undef SYMBOL
	return curl->easy_init && curl->easy_setopt && curl->easy_perform &&
	       curl->easy_getinfo && curl->easy_cleanup &&
	       curl->easy_strerror && curl->easy_escape && curl->slist_append;
}

static size_t take_answer(char *bytes, size_t size, size_t count, void *to)
{
	struct answer *answer = to;
	size_t room = sizeof(answer->text) - 1 - answer->length;
	size_t take = size * count < room ? size * count : room;

	memcpy(answer->text + answer->length, bytes, take);
	answer->length += take;
	answer->text[answer->length] = '\0';
	return size * count;
}

/* ------------------------------------------------------------ credentials */

/* The first line of the file; to be freed. */
static char *read_token(const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	ssize_t length = file ? getline(&line, &size, file) : -1;

	if (file)
		fclose(file);
	if (length < 0) {
		swz_dump_complain("SWIZZLE_PUSH_TOKEN_FILE: %s: %s", path,
				  file ? "it is empty" : strerror(errno));
		exit(EXIT_INPUT);
	}
	line[strcspn(line, "\r\n")] = '\0';
	return line;
}

/* "Authorization: Bearer TOKEN", to be freed; NULL: there is no token. */
static char *authorization(void)
{
	const char *token = getenv("SWIZZLE_PUSH_TOKEN");
	const char *path = getenv("SWIZZLE_PUSH_TOKEN_FILE");
	char *read = path && *path ? read_token(path) : NULL, *header = NULL;

	if (read)
		token = read;
	if (token && *token)
		header = swz_print("Authorization: Bearer %s", token);
	free(read);
	return header;
}

/* ------------------------------------------------------------------ bodies */

static bool read_file(const char *path, struct request *request)
{
	FILE *file = fopen(path, "re");
	size_t capacity = 0, n;

	do {
		swz_grow(&request->body, &capacity, request->size + 65536, 1);
		n = file ? fread(request->body + request->size, 1, 65536, file)
			 : 0;
		request->size += n;
	} while (n);
	if (!file || ferror(file) || fclose(file) != 0) {
		swz_dump_complain("%s: %s", path, strerror(errno));
		return false;
	}
	return true;
}

static void compress_body(struct request *request)
{
	z_stream zlib = {.next_in = request->body,
			 .avail_in = (uInt)request->size};
	uint8_t *bytes;
	size_t room;

	/* 16: with the header of gzip */
	if (deflateInit2(&zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			 MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		swz_out_of_memory();
	room = deflateBound(&zlib, (uLong)request->size);
	bytes = swz_allocate(room, 1);
	zlib.next_out = bytes;
	zlib.avail_out = (uInt)room;
	(void)deflate(&zlib, Z_FINISH);
	free(request->body);
	request->body = bytes;
	request->size = room - zlib.avail_out;
	request->gzipped = true;
	(void)deflateEnd(&zlib);
}

/* The profiles' name at the server: their service, or the program. */
static const char *service_of(const struct swz_section *all)
{
	const char *service = swz_common_label(all, "service.name");

	return service ? service : swz_base_name(all->profile->executable);
}

/* Texts that all of them have in common, apart from the service's name. */
static size_t labels_of(const struct swz_section *all,
			struct swz_pprof_label *labels)
{
	size_t count = swz_pprof_labels(all, labels), kept = 0, i;

	for (i = 0; i < count; i++)
		if (labels[i].text &&
		    strcmp(labels[i].key, "service_name") != 0)
			labels[kept++] = labels[i];
	return kept;
}

/* URL?name=SERVICE{host=H,process=P}&from=...&until=... and a form. */
static void make_pyroscope(struct request *request, const struct curl *curl,
			   CURL *handle, const struct swz_section *all)
{
	static const char boundary[] = "swizzle-9b1c7f42d05e8a36";
	struct swz_pprof_label labels[SWZ_PPROF_MOST_LABELS];
	size_t count = labels_of(all, labels), i, size;
	char *name = swz_print("%s{", service_of(all)), *longer, *body;
	const char *time = swz_pprof_time(all->profile);
	struct swz_extent extent = {0};
	FILE *form;

	swz_extent_add_section(&extent, all);

	for (i = 0; i < count; i++) {
		longer = swz_print("%s%s%s=%s", name, i ? "," : "",
				   labels[i].key, labels[i].text);
		free(name);
		name = longer;
	}
	longer = swz_print("%s}", name);
	free(name);
	name = curl->easy_escape(handle, longer, 0);
	free(longer);
	longer = swz_print("%s%cname=%s&from=%" PRIu64 "&until=%" PRIu64
			   "&format=pprof&spyName=swizzle",
			   request->url, strchr(request->url, '?') ? '&' : '?',
			   name ? name : "swizzle",
			   extent.start_ns / 1000000000u,
			   extent.end_ns / 1000000000u + 1);
	free(request->url);
	request->url = longer;
	form = swz_text_stream(&body, &size);
	fprintf(form,
		"--%s\r\nContent-Disposition: form-data; name=\"profile\"; "
		"filename=\"profile.pb.gz\"\r\nContent-Type: "
		"application/octet-stream\r\n\r\n",
		boundary);
	fwrite(request->body, 1, request->size, form);
	fprintf(form,
		"\r\n--%s\r\nContent-Disposition: form-data; "
		"name=\"sample_type_config\"; filename=\"config.json\"\r\n"
		"Content-Type: application/json\r\n\r\n"
		"{\"%s\":{\"units\":\"nanoseconds\",\"aggregation\":\"sum\","
		"\"display-name\":\"%s\",\"sampled\":false},"
		"\"%s\":{\"units\":\"count\",\"aggregation\":\"sum\","
		"\"sampled\":false}}\r\n--%s--\r\n",
		boundary, time, time,
		all->profile->header.flags & SWZ_FILE_SAMPLES ? "samples"
							      : "calls",
		boundary);
	swz_text_stream_end(form);
	free(request->body);
	request->body = (uint8_t *)body;
	request->size = size;
	request->content_type = "Content-Type: multipart/form-data; "
				"boundary=swizzle-9b1c7f42d05e8a36";
}

static void put_base64(FILE *to, const uint8_t *bytes, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmno"
				     "pqrstuvwxyz0123456789+/";
	size_t i;

	for (i = 0; i < size; i += 3) {
		uint32_t word = (uint32_t)bytes[i] << 16;

		if (i + 1 < size)
			word |= (uint32_t)bytes[i + 1] << 8;
		if (i + 2 < size)
			word |= bytes[i + 2];
		putc(digits[word >> 18], to);
		putc(digits[word >> 12 & 63], to);
		putc(i + 1 < size ? digits[word >> 6 & 63] : '=', to);
		putc(i + 2 < size ? digits[word & 63] : '=', to);
	}
}

/* WriteRawRequest of parca.profilestore.v1alpha1, as its HTTP gateway takes it:
 * JSON. */
static void make_parca(struct request *request, const struct swz_section *all)
{
	struct swz_pprof_label labels[SWZ_PPROF_MOST_LABELS];
	size_t count = labels_of(all, labels), i, size;
	char *body;
	FILE *json = swz_text_stream(&body, &size);

	fputs("{\"series\":[{\"labels\":{\"labels\":["
	      "{\"name\":\"__name__\",\"value\":\"swizzle\"},"
	      "{\"name\":\"service_name\",\"value\":",
	      json);
	swz_put_json(json, service_of(all));
	putc('}', json);
	for (i = 0; i < count; i++) {
		fprintf(json, ",{\"name\":\"%s\",\"value\":", labels[i].key);
		swz_put_json(json, labels[i].text);
		putc('}', json);
	}
	fputs("]},\"samples\":[{\"rawProfile\":\"", json);
	put_base64(json, request->body, request->size);
	fputs("\"}]}],\"normalized\":true}", json);
	swz_text_stream_end(json);
	free(request->body);
	request->body = (uint8_t *)body;
	request->size = size;
	request->content_type = "Content-Type: application/json";
}

/* The path of OTLP over HTTP, where the URL has none. */
static void make_otlp(struct request *request)
{
	const char *host = strstr(request->url, "://") + 3;
	const char *path = strchr(host, '/');
	char *longer;

	if (!path || !path[1]) {
		longer = swz_print("%.*s/v1development/profiles",
				   path ? (int)(path - request->url)
					: (int)strlen(request->url),
				   request->url);
		free(request->url);
		request->url = longer;
	}
	request->content_type = "Content-Type: application/x-protobuf";
	compress_body(request);
}

/* ----------------------------------------------------------------- sending */

static void send_once(const struct curl *curl, CURL *handle,
		      struct answer *answer)
{
	curl_off_t after = 0;

	*answer = (struct answer){0};
	curl->easy_setopt(handle, CURLOPT_WRITEDATA, answer);
	answer->error = curl->easy_perform(handle);
	curl->easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &answer->status);
	curl->easy_getinfo(handle, CURLINFO_RETRY_AFTER, &after);
	answer->retry_after_s = (long)after;
}

/* It may be different next time. */
static bool may_pass(const struct answer *answer)
{
	switch (answer->error) {
	case CURLE_OK:
		return answer->status == 429 || answer->status == 502 ||
		       answer->status == 503 || answer->status == 504;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_GOT_NOTHING:
		return true;
	default:
		return false;
	}
}

static void wait_ms(long ms)
{
	struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&pause, &pause) != 0 && errno == EINTR)
		;
}

static bool send_all(const struct curl *curl, CURL *handle,
		     struct answer *answer)
{
	long pause_ms = FIRST_PAUSE_MS;
	int attempt;

	for (attempt = 1;; attempt++) {
		send_once(curl, handle, answer);
		if (answer->error == CURLE_OK && answer->status / 100 == 2)
			return true;
		if (attempt == ATTEMPTS || !may_pass(answer))
			return false;
		if (answer->retry_after_s > 0)
			pause_ms = answer->retry_after_s * 1000;
		wait_ms(pause_ms < MOST_PAUSE_MS ? pause_ms : MOST_PAUSE_MS);
		pause_ms *= 2;
	}
}

static void say_failure(const struct curl *curl, const char *url,
			const struct answer *answer)
{
	if (answer->error != CURLE_OK)
		swz_dump_complain("%s: %s", url,
				  curl->easy_strerror(answer->error));
	else
		swz_dump_complain("%s: the server refused it: status %ld%s%s%s",
				  url, answer->status,
				  answer->length ? ": " : "", answer->text,
				  answer->status == 401 || answer->status == 403
					  ? " (SWIZZLE_PUSH_TOKEN is the token)"
					  : "");
}

static int send_request(const struct curl *curl, CURL *handle,
			const struct request *request,
			const struct swz_dump_options *options)
{
	char *token = authorization();
	struct curl_slist *headers = NULL;
	struct answer answer;
	bool good;

	headers = curl->slist_append(headers, request->content_type);
	headers = curl->slist_append(headers, "Expect:");
	if (request->gzipped)
		headers = curl->slist_append(headers, "Content-Encoding: gzip");
	if (token)
		headers = curl->slist_append(headers, token);
	free(token);
	curl->easy_setopt(handle, CURLOPT_URL, request->url);
	curl->easy_setopt(handle, CURLOPT_POSTFIELDS, request->body);
	curl->easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
			  (curl_off_t)request->size);
	curl->easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
	curl->easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_answer);
	curl->easy_setopt(handle, CURLOPT_USERAGENT, "swizzle");
	curl->easy_setopt(handle, CURLOPT_TIMEOUT, TIMEOUT_S);
	curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
	good = send_all(curl, handle, &answer);
	if (!good)
		say_failure(curl, options->push, &answer);
	else if (!options->quiet)
		swz_dump_complain("%zu bytes sent to %s", request->size,
				  options->push);
	return good ? EXIT_OK : EXIT_INPUT;
}

static char *sent; /* that is to be removed */

static void remove_sent(void)
{
	if (sent)
		(void)unlink(sent);
}

char *swz_push_begin(struct swz_dump_options *options)
{
	const char *directory = getenv("TMPDIR");
	char *path = swz_print("%s/swizzle-push.XXXXXX",
			       directory && *directory ? directory : "/tmp");
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0) {
		swz_dump_complain("%s: %s", path, strerror(errno));
		exit(EXIT_INPUT);
	}
	close(fd);
	sent = path;
	(void)atexit(remove_sent);
	options->output = path;
	return path;
}

void swz_push_end(char *path)
{
	remove_sent();
	sent = NULL;
	free(path);
}

int swz_push(const struct swz_dump_options *options, const char *path,
	     struct swz_profile *const *profiles, size_t count)
{
	const struct swz_section all = {.profile = profiles[0],
					.profiles = profiles,
					.profile_count = count};
	struct request request = {.url = swz_duplicate(options->push)};
	struct curl curl;
	CURL *handle;
	int status = EXIT_INPUT;

	if (!load(&curl) || !read_file(path, &request)) {
		free(request.url);
		free(request.body);
		return EXIT_INPUT;
	}
	handle = curl.easy_init();
	if (!handle)
		swz_out_of_memory();
	switch (kind_of(options->push)) {
	case PYROSCOPE:
		make_pyroscope(&request, &curl, handle, &all);
		break;
	case PARCA:
		make_parca(&request, &all);
		break;
	default:
		make_otlp(&request);
		break;
	}
	status = send_request(&curl, handle, &request, options);
	curl.easy_cleanup(handle);
	free(request.url);
	free(request.body);
	return status;
}
