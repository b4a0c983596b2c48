/* A device whose memory the host cannot read: it is the host's, scrambled at rest, and its streams
 * do nothing until they are waited for. Only a judge that uploads, waits and downloads can pass it.
 * Claims relu, and to share work among threads, but never says among how many it did. The option
 * `fault` breaks one of the steps. */
#define _POSIX_C_SOURCE 200112L
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"

enum { MAX_RANK = 8 };
static const int32_t key = 0x5a5aa5a5;

struct ls_backend {
  char fault[16];
};

struct ls_plan {
  int ndim;
  int64_t shape[MAX_RANK], in_stride[MAX_RANK], out_stride[MAX_RANK];
};

/* What execute() was given, until wait(). A judge asks for few at a time. */
enum { STREAMS = 8 };
struct stream {
  const ls_plan* plan;
  const int32_t* in;
  int32_t *out, *scratch;
};

static int is(const ls_backend* self, const char* fault) { return !strcmp(self->fault, fault); }

static int32_t fail(ls_status* status, int32_t code, const char* label, const char* text) {
  strncpy(status->label, label, sizeof status->label - 1);
  strncpy(status->text, text, sizeof status->text - 1);
  return code;
}

static const char* manifest(void) {
  return "{\"name\": \"device\", \"version\": \"1\", \"device\": \"scrambler\","
         " \"options\": [\"fault\", \"threads\"],"
         " \"kernels\": [{\"op\": \"relu\", \"name\": \"scrambled\","
         " \"isa\": \"scrambler\", \"runnable\": true}],"
         " \"claims\": {\"operators\": {\"relu\": {}}, \"layouts\": [\"compact\", \"strided\"],"
         " \"threads\": [1, 2], \"determinism\": \"D1\", \"errors\": \"none\"}}";
}

static int32_t open_device(const ls_text* options, uint32_t n, ls_backend** self,
                           ls_status* status) {
  ls_backend* opened = calloc(1, sizeof *opened);
  if (!opened) return fail(status, LS_RUNTIME, "", "no memory");
  for (uint32_t i = 0; i < n; ++i) {
    if (strcmp(options[i].key, "threads") == 0) continue;
    if (strcmp(options[i].key, "fault") != 0) {
      free(opened);
      return fail(status, LS_LOGIC, "option.unknown", options[i].key);
    }
    strncpy(opened->fault, options[i].value, sizeof opened->fault - 1);
  }
  *self = opened;
  return LS_OK;
}

static void close_device(ls_backend* self) { free(self); }

static void* alloc(ls_backend* self, uint64_t bytes, uint64_t align, ls_status* status) {
  if (is(self, "alloc")) fail(status, LS_RUNTIME, "", "no room on the device");
  if (is(self, "alloc") || is(self, "mute_alloc")) return NULL;
  void* memory = NULL;
  return posix_memalign(&memory, align, bytes) == 0 ? memory : NULL;
}

static void release_memory(ls_backend* self, void* memory) {
  (void)self;
  free(memory);
}

static void scramble(void* to, const void* from, uint64_t bytes) {
  for (uint64_t at = 0; at + 4 <= bytes; at += 4) {
    int32_t word;
    memcpy(&word, (const char*)from + at, 4);
    word ^= key;
    memcpy((char*)to + at, &word, 4);
  }
}

static int32_t upload(ls_backend* self, void* device, const void* host, uint64_t bytes,
                      ls_status* status) {
  if (is(self, "upload")) return fail(status, LS_RUNTIME, "", "the bus is on strike");
  scramble(device, host, bytes);
  return LS_OK;
}

static int32_t download(ls_backend* self, void* host, const void* device, uint64_t bytes,
                        ls_status* status) {
  if (is(self, "download")) return fail(status, LS_RUNTIME, "", "the bus is on strike");
  scramble(host, device, bytes);
  return LS_OK;
}

static int32_t new_stream(ls_backend* self, void** stream, ls_status* status) {
  static struct stream all[STREAMS];
  static unsigned next;
  if (is(self, "stream")) return fail(status, LS_RUNTIME, "", "no stream is free");
  *stream = &all[next++ % STREAMS];
  return LS_OK;
}

/* The offset of element `number` of the plan's shape, in row-major order. */
static int64_t offset(const ls_plan* plan, const int64_t* stride, int64_t number) {
  int64_t at = 0;
  for (int d = plan->ndim - 1; d >= 0; --d) {
    at += number % plan->shape[d] * stride[d];
    number /= plan->shape[d];
  }
  return at;
}

static int32_t wait(ls_backend* self, void* stream, ls_status* status) {
  const struct stream* s = stream;
  /* A device that a cube breaks, for as long as the process lives. */
  static int lost;
  if (is(self, "lost") && s->plan->ndim == 3) lost = 1;
  if (lost) return fail(status, LS_RUNTIME, "", "the device is lost to this process");
  if (is(self, "wait")) return fail(status, LS_RUNTIME, "", "the device fell off the bus");
  int64_t n = 1;
  for (int d = 0; d < s->plan->ndim; ++d) n *= s->plan->shape[d];
  for (int64_t k = 0; k < n; ++k) {
    s->scratch[k] = s->in[offset(s->plan, s->plan->in_stride, k)] ^ key;
    const int32_t y = s->scratch[k] < 0 ? 0 : s->scratch[k];
    s->out[offset(s->plan, s->plan->out_stride, k)] = y ^ key;
  }
  if (is(self, "value")) s->out[0] ^= 1;
  if (is(self, "overrun")) s->out[offset(s->plan, s->plan->out_stride, n - 1) + 1] ^= 1;
  if (is(self, "input")) ((int32_t*)s->in)[0] ^= 1;
  return LS_OK;
}

static int32_t prepare(ls_backend* self, const char* op, const ls_attr* attrs, uint32_t n_attrs,
                       const ls_tensor* in, uint32_t n_in, const ls_tensor* out, uint32_t n_out,
                       ls_plan** plan, uint64_t* scratch_bytes, ls_status* status) {
  (void)self, (void)attrs, (void)n_attrs;
  if (n_in > 0 && in[0].dl.device.device_type != kDLExtDev)
    return fail(status, LS_RUNTIME, "", "a tensor outside the device");
  if (strcmp(op, "relu") != 0 || n_in != 1 || n_out != 1 || in[0].dl.ndim > MAX_RANK)
    return fail(status, LS_UNSUPPORTED, "", op);
  ls_plan* made = calloc(1, sizeof *made);
  if (!made) return fail(status, LS_RUNTIME, "", "no memory");
  made->ndim = in[0].dl.ndim;
  *scratch_bytes = sizeof(int32_t);
  for (int d = 0; d < made->ndim; ++d) {
    made->shape[d] = in[0].dl.shape[d];
    made->in_stride[d] = in[0].dl.strides[d];
    made->out_stride[d] = out[0].dl.strides[d];
    *scratch_bytes *= (uint64_t)made->shape[d];
  }
  *plan = made;
  return LS_OK;
}

static int32_t execute(const ls_plan* plan, const void* const* in, void* const* out, void* scratch,
                       void* stream, ls_status* status) {
  (void)status;
  struct stream* s = stream;
  s->plan = plan;
  s->in = in[0];
  s->out = out[0];
  s->scratch = scratch;
  return LS_OK;
}

static void release_plan(ls_plan* plan) { free(plan); }

static const char* path(const ls_plan* plan) {
  (void)plan;
  return "scrambled";
}

const ls_api* lockstep_backend_v1(void) {
  static const ls_api table = {
      .abi = LOCKSTEP_ABI,
      .size = sizeof(ls_api),
      .manifest = manifest,
      .open = open_device,
      .close = close_device,
      .alloc = alloc,
      .free = release_memory,
      .upload = upload,
      .download = download,
      .stream = new_stream,
      .wait = wait,
      .prepare = prepare,
      .execute = execute,
      .release = release_plan,
      .path = path,
  };
  return &table;
}
