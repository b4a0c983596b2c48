/* The life of arrays and of a parameter file, from a program in C that knows the header alone.
 * It prints what went wrong and counts it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/capi/cvm.h"

static int faults = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  ++faults;
  printf("%s does not hold; the last error is: %s\n", what, CVMGetLastError());
}

#define EXPECT(condition) expect(condition, #condition)

static CVMArrayHandle make(const int32_t* values, const int64_t* shape, int ndim, size_t nbytes) {
  CVMArrayHandle array = NULL;
  EXPECT(CVMArrayAlloc(shape, ndim, 0, 32, 1, 1, 0, &array) == CVM_OK);
  EXPECT(array != NULL && array->ndim == ndim && array->dtype.bits == 32);
  EXPECT(CVMArrayCopyFromBytes(array, values, nbytes) == CVM_OK);
  return array;
}

static void expect_values(CVMArrayHandle array, const int32_t* values, size_t nbytes) {
  int32_t found[16];
  EXPECT(CVMArrayCopyToBytes(array, found, nbytes) == CVM_OK);
  EXPECT(memcmp(found, values, nbytes) == 0);
}

static void check_lists(const CVMByteArray* file, const int32_t* values, size_t nbytes) {
  int count = 0;
  void **names = NULL, **arrays = NULL;
  EXPECT(CVMLoadParamsDict(file->data, (int)file->size, &count, &names, &arrays) == CVM_OK);
  EXPECT(count == 2);
  if (count != 2) return;
  EXPECT(strcmp((const char*)names[0], "w") == 0);
  EXPECT(strcmp((const char*)names[1], "transposed") == 0);
  expect_values((CVMArrayHandle)arrays[0], values, nbytes);
  EXPECT(CVMArrayFree((CVMArrayHandle)arrays[0]) == CVM_OK);
  EXPECT(CVMArrayFree((CVMArrayHandle)arrays[1]) == CVM_OK);
}

static void check_sized_lists(
    const void** params, const CVMByteArray* file, const int32_t* transposed, size_t nbytes) {
  size_t size = 0, count = 0;
  char* buffer;
  CVMByteArray names[2];
  CVMArrayHandle arrays[2];
  EXPECT(CVMSaveParamsDictSized(params, 4, NULL, 0, &size) == CVM_OK);
  EXPECT(size == file->size);
  buffer = (char*)malloc(size);
  EXPECT(CVMSaveParamsDictSized(params, 4, buffer, size - 1, &size) == CVM_LOGIC);
  EXPECT(size == file->size);
  EXPECT(CVMSaveParamsDictSized(params, 4, buffer, size, &size) == CVM_OK);
  EXPECT(memcmp(buffer, file->data, size) == 0);
  EXPECT(CVMLoadParamsDictSized(buffer, size, NULL, NULL, 0, &count) == CVM_OK);
  EXPECT(count == 2);
  EXPECT(CVMLoadParamsDictSized(buffer, size, names, arrays, 1, &count) == CVM_LOGIC);
  EXPECT(count == 2);
  EXPECT(CVMLoadParamsDictSized(buffer, size, names, arrays, 2, &count) == CVM_OK);
  EXPECT(names[0].size == 1 && names[0].data[0] == 'w');
  EXPECT(names[1].size == 10 && memcmp(names[1].data, "transposed", 10) == 0);
  expect_values(arrays[1], transposed, nbytes);
  EXPECT(CVMArrayFree(arrays[0]) == CVM_OK);
  EXPECT(CVMArrayFree(arrays[1]) == CVM_OK);
  free(buffer);
}

static void check_errors(CVMArrayHandle array) {
  const int64_t negative = -1;
  CVMArrayHandle none = array;
  EXPECT(CVMArrayAlloc(&negative, 1, 0, 32, 1, 1, 0, &none) == CVM_LOGIC);
  EXPECT(none == NULL);
  EXPECT(strstr(CVMGetLastError(), "-1") != NULL);
  EXPECT(CVMArrayCopyToBytes(array, NULL, 1) == CVM_LOGIC);
  EXPECT(CVMArrayFree(NULL) == CVM_OK);
}

int main(void) {
  const int32_t values[6] = {1, 2, 3, 4, 5, 6};
  const int32_t transposed_values[6] = {1, 4, 2, 5, 3, 6};
  const int64_t shape[2] = {2, 3};
  int64_t other_shape[2] = {3, 2};
  int64_t other_strides[2] = {1, 3};
  CVMByteArray file;
  const void* params[4];
  CVMArrayHandle w = make(values, shape, 2, sizeof(values));
  CVMArrayHandle transposed = make(values, shape, 2, sizeof(values));
  CVMArrayHandle copy = make(transposed_values, other_shape, 2, sizeof(values));

  /* The program may choose the order of an array's memory. */
  transposed->shape = other_shape;
  transposed->strides = other_strides;
  EXPECT(CVMArrayCopyFromTo(transposed, copy, NULL) == CVM_OK);
  expect_values(copy, transposed_values, sizeof(values));
  EXPECT(CVMArrayCopyFromTo(copy, transposed, NULL) == CVM_OK);
  expect_values(transposed, transposed_values, sizeof(values));

  params[0] = "w";
  params[1] = w;
  params[2] = "transposed";
  params[3] = transposed;
  EXPECT(CVMSaveParamsDict(params, 4, &file) == CVM_OK);
  EXPECT(file.data != NULL && file.size > 32);
  check_lists(&file, values, sizeof(values));
  check_sized_lists(params, &file, transposed_values, sizeof(values));
  check_errors(w);

  EXPECT(CVMArrayFree(copy) == CVM_OK);
  EXPECT(CVMArrayFree(transposed) == CVM_OK);
  EXPECT(CVMArrayFree(w) == CVM_OK);
  EXPECT(CVMArrayFree(w) == CVM_LOGIC);
  if (faults == 0) puts("the life of arrays: all as it should be");
  return faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
