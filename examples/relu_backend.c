/* A whole backend in C99: relu for compact tensors. Built as the shared library relu.so
 * (cc -std=c99 -shared -fPIC -I. examples/relu_backend.c -o relu.so) it is judged by
 *   lockstep check ./relu.so */
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"

struct ls_plan {
  int64_t count;
};

static int32_t say(ls_status* status, int32_t code, const char* label, const char* text) {
  status->code = code;
  snprintf(status->label, sizeof status->label, "%s", label);
  snprintf(status->text, sizeof status->text, "%s", text);
  return code;
}

static const char* manifest(void) {
  return "{\"name\": \"mine\", \"version\": \"1.0\", \"device\": \"CPU\","
         " \"kernels\": [{\"op\": \"relu\", \"name\": \"relu_loop\", \"isa\": \"portable\","
         "               \"runnable\": true}],"
         " \"claims\": {\"operators\": {\"relu\": {}}, \"layouts\": [\"compact\"],"
         "              \"determinism\": \"D2\", \"errors\": \"none\"}}";
}

/* This backend has no state, and NULL would mean that there is none. */
static int32_t open_backend(
    const ls_text* options, uint32_t n, ls_backend** self, ls_status* status) {
  static char only;
  (void)options;
  if (n > 0) return say(status, LS_LOGIC, "option.unknown", "there are no options");
  *self = (ls_backend*)&only;
  return LS_OK;
}
static void close_backend(ls_backend* self) { (void)self; }

static int32_t prepare(ls_backend* self, const char* op, const ls_attr* attrs, uint32_t n_attrs,
    const ls_tensor* in, uint32_t n_in, const ls_tensor* out, uint32_t n_out, ls_plan** plan,
    uint64_t* scratch_bytes, ls_status* status) {
  int32_t d;
  (void)self, (void)attrs, (void)n_attrs, (void)n_in, (void)out, (void)n_out;
  if (strcmp(op, "relu") != 0) return say(status, LS_UNSUPPORTED, "", "only relu");
  *plan = malloc(sizeof **plan);
  if (!*plan) return say(status, LS_RUNTIME, "", "no memory for a plan");
  (*plan)->count = 1;
  for (d = 0; d < in[0].dl.ndim; ++d) (*plan)->count *= in[0].dl.shape[d];
  *scratch_bytes = 0;
  return LS_OK;
}

static int32_t execute(const ls_plan* plan, const void* const* in, void* const* out, void* scratch,
    void* stream, ls_status* status) {
  const int32_t* x = in[0];
  int32_t* y = out[0];
  int64_t i;
  (void)scratch, (void)stream, (void)status;
  for (i = 0; i < plan->count; ++i) y[i] = x[i] > 0 ? x[i] : 0;
  return LS_OK;
}

static void release(ls_plan* plan) { free(plan); }
static const char* path(const ls_plan* plan) {
  (void)plan;
  return "relu_loop";
}

const ls_api* lockstep_backend_v1(void) {
  static ls_api api;
  api.abi = LOCKSTEP_ABI;
  api.size = sizeof api;
  api.manifest = manifest;
  api.open = open_backend;
  api.close = close_backend;
  api.prepare = prepare;
  api.execute = execute;
  api.release = release;
  api.path = path;
  return &api;
}
