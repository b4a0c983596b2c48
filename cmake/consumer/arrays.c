/* A program in C that links the installed library: it makes an array and saves it. */
#include <lockstep/cvm.h>
#include <stdio.h>

static int fail(void) {
  puts(CVMGetLastError());
  return 1;
}

int main(void) {
  const int64_t shape[1] = {4};
  const unsigned char bytes[4] = {1, 2, 3, 4};
  const void* params[2] = {"x", NULL};
  CVMArrayHandle array = NULL;
  CVMByteArray file = {NULL, 0};
  if (CVMArrayAlloc(shape, 1, 1, 8, 1, 1, 0, &array) != CVM_OK ||
      CVMArrayCopyFromBytes(array, bytes, sizeof(bytes)) != CVM_OK) {
    return fail();
  }
  params[1] = array;
  if (CVMSaveParamsDict(params, 2, &file) != CVM_OK) return fail();
  printf("a parameter file of %lu bytes\n", (unsigned long)file.size);
  return CVMArrayFree(array);
}
