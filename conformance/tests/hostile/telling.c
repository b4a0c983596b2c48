/* A backend that tells what it is given, and does what it is told. Its options:
 *   tells=call|limits     prepare() refuses with the tensors, or with the limits of its process
 *   tells=scratch         execute() refuses with what scratch memory holds, and where
 *   scratch=BYTES         of scratch memory that execute() needs
 *   code=FUNCTION:NUMBER  what that function answers
 *   poke=PORT:BYTES       execute() changes a byte, so far from the first element of a tensor;
 *                         the output follows the inputs
 *   words=long|open       texts fill their room and have no end; `open`: open() refuses with one
 * And its environment: TELLING_LACKS numbers a required function that the table lacks,
 * TELLING_DEVICE gives it a device, TELLING_SIZE is how many bytes the manifest has. */
#define _POSIX_C_SOURCE 200112L
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "backends/backend.h"

struct ls_backend {
  char tells[16], code[16], words[16];
  long number, byte;
  uint32_t port;
  int pokes;
  uint64_t scratch;
};

struct ls_plan {
  const ls_backend* self;
  uint32_t inputs;
};

static const char* manifest(void) {
  static char text[(1 << 20) + 2];
  const char* size = getenv("TELLING_SIZE");
  const int n = snprintf(
      text, sizeof text, "%s",
      "{\"name\": \"telling\", \"version\": \"1\", \"device\": \"cpu\","
      " \"options\": [\"tells\", \"code\", \"poke\", \"scratch\", \"words\"],"
      " \"kernels\": [{\"op\": \"*\", \"name\": \"only\", \"isa\": \"any\", \"runnable\": true}],"
      " \"claims\": {\"operators\": {\"relu\": {}}}}");
  if (size) memset(text + n, ' ', (size_t)atoi(size) - (size_t)n);
  return text;
}

/* Refuses with a text, or with as many letters as there is room for. */
static int32_t refuse(const ls_backend* self, ls_status* status, const char* form, ...) {
  if (self->words[0]) {
    memset(status->label, 'l', sizeof status->label);
    memset(status->text, 't', sizeof status->text);
    return LS_LOGIC;
  }
  va_list values;
  va_start(values, form);
  strcpy(status->label, "told");
  vsnprintf(status->text, sizeof status->text, form, values);
  va_end(values);
  return LS_LOGIC;
}

static int tells(const ls_backend* self, const char* what) { return !strcmp(self->tells, what); }

/* What a function answers where nothing else is the matter. */
static int32_t code(const ls_backend* self, const char* function, ls_status* status) {
  static int calls;
  if (strcmp(self->code, function) != 0) return LS_OK;
  snprintf(status->text, sizeof status->text, "answer %d", ++calls);
  return (int32_t)self->number;
}

static int32_t open_telling(const ls_text* options, uint32_t n, ls_backend** self,
                            ls_status* status) {
  ls_backend* b = calloc(1, sizeof *b);
  for (uint32_t i = 0; i < n; ++i) {
    const char* value = options[i].value;
    const char* rest = strchr(value, ':');
    if (!strcmp(options[i].key, "tells")) strncpy(b->tells, value, sizeof b->tells - 1);
    if (!strcmp(options[i].key, "words")) strncpy(b->words, value, sizeof b->words - 1);
    if (!strcmp(options[i].key, "scratch")) b->scratch = strtoull(value, NULL, 10);
    if (!strcmp(options[i].key, "code")) {
      memcpy(b->code, value, (size_t)(rest - value));
      b->number = atol(rest + 1);
    }
    if (!strcmp(options[i].key, "poke")) {
      b->pokes = 1;
      b->port = (uint32_t)atol(value);
      b->byte = atol(rest + 1);
    }
  }
  *self = b;
  if (!strcmp(b->words, "open")) return refuse(b, status, "");
  return code(b, "open", status);
}

static void close_telling(ls_backend* self) { free(self); }

static void* alloc(ls_backend* self, uint64_t bytes, uint64_t align, ls_status* status) {
  (void)self, (void)status;
  void* memory = NULL;
  return posix_memalign(&memory, align, bytes) == 0 ? memory : NULL;
}

static void free_memory(ls_backend* self, void* memory) {
  (void)self;
  free(memory);
}

static int32_t upload(ls_backend* self, void* device, const void* host, uint64_t bytes,
                      ls_status* status) {
  memcpy(device, host, bytes);
  return code(self, "upload", status);
}

static int32_t download(ls_backend* self, void* host, const void* device, uint64_t bytes,
                        ls_status* status) {
  memcpy(host, device, bytes);
  return code(self, "download", status);
}

static int32_t new_stream(ls_backend* self, void** stream, ls_status* status) {
  *stream = self;
  return code(self, "stream", status);
}

static int32_t wait(ls_backend* self, void* stream, ls_status* status) {
  (void)stream;
  return code(self, "wait", status);
}

static void add(char* text, size_t room, const char* form, long long value) {
  const size_t n = strlen(text);
  snprintf(text + n, room - n, form, value);
}

/* Shape, strides, precision; what a tensor always has is told only where it is otherwise. */
static void tell(const ls_tensor* t, char* text, size_t room) {
  const DLTensor* d = &t->dl;
  add(text, room, " ", 0);
  for (int k = 0; k < d->ndim; ++k) add(text, room, k ? "x%lld" : "%lld", d->shape[k]);
  for (int k = 0; k < d->ndim; ++k) add(text, room, k ? ",%lld" : "/%lld", d->strides[k]);
  add(text, room, "@%lld", t->precision);
  if (t->flags) add(text, room, "#%lld", t->flags);
  if (d->device.device_type != kDLCPU) add(text, room, "on%lld", d->device.device_type);
  if (d->device.device_id || d->byte_offset || t->reserved[0] || t->reserved[1] ||
      d->dtype.code != kDLInt || d->dtype.bits != 32 || d->dtype.lanes != 1)
    add(text, room, "?", 0);
}

static int32_t prepare(ls_backend* self, const char* op, const ls_attr* attrs, uint32_t n_attrs,
                       const ls_tensor* in, uint32_t n_in, const ls_tensor* out, uint32_t n_out,
                       ls_plan** plan, uint64_t* scratch_bytes, ls_status* status) {
  (void)attrs, (void)n_attrs;
  const int32_t answer = code(self, "prepare", status);
  if (answer != LS_OK) return answer;
  if (tells(self, "limits")) {
    struct rlimit data, core;
    getrlimit(RLIMIT_DATA, &data);
    getrlimit(RLIMIT_CORE, &core);
    return refuse(self, status, "%llu %llu %llu", (unsigned long long)data.rlim_cur,
                  (unsigned long long)core.rlim_cur, (unsigned long long)core.rlim_max);
  }
  if (tells(self, "call")) {
    char text[256] = "";
    for (uint32_t k = 0; k < n_in; ++k) tell(&in[k], text, sizeof text);
    add(text, sizeof text, " ->", 0);
    for (uint32_t k = 0; k < n_out; ++k) tell(&out[k], text, sizeof text);
    return refuse(self, status, "%s %u %u%s", op, n_in, n_out, text);
  }
  ls_plan* made = calloc(1, sizeof *made);
  made->self = self;
  made->inputs = n_in;
  *scratch_bytes = self->scratch;
  *plan = made;
  return LS_OK;
}

static int32_t execute(const ls_plan* plan, const void* const* in, void* const* out, void* scratch,
                       void* stream, ls_status* status) {
  (void)stream;
  const ls_backend* self = plan->self;
  if (tells(self, "scratch")) {
    int32_t first, last;
    memcpy(&first, scratch, sizeof first);
    memcpy(&last, (char*)scratch + self->scratch - sizeof last, sizeof last);
    return refuse(self, status, "%d %d %d", first, last, (int)((uintptr_t)scratch % 64));
  }
  if (self->pokes) {
    char* tensor = self->port < plan->inputs ? (char*)(uintptr_t)in[self->port] : (char*)out[0];
    tensor[self->byte] ^= 1;
  }
  return code(self, "execute", status);
}

static void release_plan(ls_plan* plan) { free(plan); }

static const char* path(const ls_plan* plan) {
  static char name[300];
  memset(name, 'p', sizeof name - 1);
  return plan->self->words[0] ? name : "only";
}

static uint32_t threads(const ls_backend* self) { return self->words[0] ? 3000000000u : 1; }

static int32_t infer(ls_backend* self, const char* op, const ls_attr* attrs, uint32_t n_attrs,
                     const ls_tensor* in, uint32_t n_in, ls_tensor* out, uint32_t* n_out,
                     ls_status* status) {
  (void)op, (void)attrs, (void)n_attrs, (void)in;
  /* An output of no axes, and one as long as no tensor is. */
  out[0].precision = (int32_t)n_in;
  out[1].dl.ndim = 1;
  out[1].dl.shape[0] = (int64_t)1 << 40;
  *n_out = 2;
  return code(self, "infer", status);
}

const ls_api* lockstep_backend_v1(void) {
  static ls_api table = {
      .abi = LOCKSTEP_ABI,
      .size = sizeof(ls_api),
      .manifest = manifest,
      .open = open_telling,
      .close = close_telling,
      .prepare = prepare,
      .execute = execute,
      .release = release_plan,
      .path = path,
      .infer = infer,
      .threads = threads,
  };
  if (getenv("TELLING_DEVICE")) {
    table.alloc = alloc;
    table.free = free_memory;
    table.upload = upload;
    table.download = download;
    table.stream = new_stream;
    table.wait = wait;
  }
  const char* lacks = getenv("TELLING_LACKS");
  switch (lacks ? atoi(lacks) : -1) {
    case 0:
      table.manifest = NULL;
      break;
    case 1:
      table.open = NULL;
      break;
    case 2:
      table.close = NULL;
      break;
    case 3:
      table.prepare = NULL;
      break;
    case 4:
      table.execute = NULL;
      break;
    case 5:
      table.release = NULL;
      break;
    case 6:
      table.path = NULL;
      break;
    default:
      break;
  }
  return &table;
}
