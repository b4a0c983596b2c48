/* Libraries that fail while they are loaded, or right after; a macro says how. Without one this is
 * a backend that loads, claims relu and refuses to open. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/backend.h"

#if defined(HOSTILE_EXITS)
__attribute__((constructor)) static void exits(void) { exit(0); }
#elif defined(HOSTILE_ABORTS)
__attribute__((constructor)) static void aborts(void) { abort(); }
#elif defined(HOSTILE_HANGS)
__attribute__((constructor)) static void hangs(void) {
  for (;;) pause();
}
#endif

#ifdef HOSTILE_NO_DEVICE
#define RUNNABLE "false"
#else
#define RUNNABLE "true"
#endif

#ifdef HOSTILE_NO_MANIFEST
static const char* manifest(void) { return NULL; }
#else
static const char* manifest(void) {
  return "{\"name\": \"loading\", \"version\": \"1\", \"device\": \"toaster\","
         " \"kernels\": [{\"op\": \"relu\", \"name\": \"slice\", \"isa\": \"toaster\","
         " \"runnable\": " RUNNABLE
         "}],"
         " \"claims\": {\"operators\": {\"relu\": {}}}}";
}
#endif

static int32_t open_none(const ls_text* options, uint32_t n, ls_backend** self, ls_status* status) {
  (void)options, (void)n, (void)self;
  strncpy(status->text, "no toaster is plugged in", sizeof status->text - 1);
  return LS_RUNTIME;
}

static void close_none(ls_backend* self) { (void)self; }

static int32_t prepare(ls_backend* self, const char* op, const ls_attr* attrs, uint32_t n_attrs,
                       const ls_tensor* in, uint32_t n_in, const ls_tensor* out, uint32_t n_out,
                       ls_plan** plan, uint64_t* scratch_bytes, ls_status* status) {
  (void)self, (void)op, (void)attrs, (void)n_attrs, (void)in, (void)n_in, (void)out, (void)n_out;
  (void)plan, (void)scratch_bytes, (void)status;
  return LS_RUNTIME;
}

#ifndef HOSTILE_NO_EXECUTE
static int32_t execute(const ls_plan* plan, const void* const* in, void* const* out, void* scratch,
                       void* stream, ls_status* status) {
  (void)plan, (void)in, (void)out, (void)scratch, (void)stream, (void)status;
  return LS_RUNTIME;
}
#endif

static void release(ls_plan* plan) { (void)plan; }

static const char* path(const ls_plan* plan) {
  (void)plan;
  return "none";
}

static const ls_api table = {
#ifdef HOSTILE_OTHER_ABI
    .abi = LOCKSTEP_ABI + 1,
#else
    .abi = LOCKSTEP_ABI,
#endif
#ifdef HOSTILE_SHORT_TABLE
    .size = 8, /* the table ends before its first function */
#else
    .size = sizeof(ls_api),
#endif
    .manifest = manifest,
    .open = open_none,
    .close = close_none,
    .prepare = prepare,
#ifndef HOSTILE_NO_EXECUTE
    .execute = execute,
#endif
    .release = release,
    .path = path,
};

LOCKSTEP_EXPORT const ls_api* hostile_backend(void);

#ifdef HOSTILE_NO_SYMBOL
const ls_api* hostile_backend(void) { return &table; }
#else
const ls_api* lockstep_backend_v1(void) {
#ifdef HOSTILE_NULL_TABLE
  return NULL;
#else
  return &table;
#endif
}
const ls_api* hostile_backend(void) { return &table; }
#endif
