/* The CUDA backend with outputs moved away from its caller's: its kernels write where nothing was
 * allocated. A memory checker that misses this checks nothing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "backends/backend.h"

enum { MAX_OUTPUTS = 2, FAR = 1 << 30 };

static ls_api table;
static int32_t (*execute_right)(const ls_plan* plan, const void* const* in, void* const* out,
    void* scratch, void* stream, ls_status* status);

static int32_t execute(const ls_plan* plan, const void* const* in, void* const* out, void* scratch,
    void* stream, ls_status* status) {
  void* far[MAX_OUTPUTS] = {(char*)out[0] + FAR, NULL}; /* relu has one output */
  return execute_right(plan, in, far, scratch, stream, status);
}

/* Beside this library is the folder of the real one. */
const ls_api* lockstep_backend_v1(void) {
  Dl_info self;
  char path[4096];
  if (!dladdr((void*)&table, &self)) return NULL;
  const char* slash = strrchr(self.dli_fname, '/');
  const int length = slash ? (int)(slash - self.dli_fname) : 0;
  snprintf(path, sizeof path, "%.*s/../lib/lockstep/cuda.so", length, self.dli_fname);
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const ls_api* (*entry)(void) = NULL;
  if (library) *(void**)&entry = dlsym(library, "lockstep_backend_v1");
  if (!entry) return NULL;
  table = *entry();
  execute_right = table.execute;
  table.execute = execute;
  return &table;
}
