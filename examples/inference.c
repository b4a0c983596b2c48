/* Inference from a program that knows nothing but CVMAPI*: it also compiles against the deployed
 * runtime. It prints the class of an image, the greatest of its logits.
 *   cc -std=c99 examples/inference.c $(pkg-config --cflags --libs lockstep_cvm) -o inference
 *   inference MODEL/symbol.json MODEL/params IMAGE
 * Exit status: that of the call that failed, 1 for a file that cannot be read. */
#include <cvm/c_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The bytes of a file and a NUL; NULL if it cannot be read. */
static char* read_file(const char* path, int* size) {
  FILE* file = fopen(path, "rb");
  char* bytes = NULL;
  if (file == NULL) return NULL;
  *size = fseek(file, 0, SEEK_END) == 0 ? (int)ftell(file) : -1;
  rewind(file);
  if (*size >= 0) bytes = malloc((size_t)*size + 1);
  if (bytes != NULL) bytes[fread(bytes, 1, (size_t)*size, file)] = '\0';
  fclose(file);
  return bytes;
}

static int print_class(ModelHandler net, StringHandler input, int input_size) {
  unsigned long long size, element, k, best = 0;
  int32_t* logits;
  int status = CVMAPIGetOutputLength(net, &size);
  if (status == SUCCEED) status = CVMAPIGetOutputTypeSize(net, &element);
  if (status != SUCCEED) return status;
  if (element != sizeof(int32_t)) return ERROR_LOGIC;
  logits = malloc((size_t)size);
  if (logits == NULL) return ERROR_RUNTIME;
  status = CVMAPIInference(net, input, input_size, (char*)logits);
  if (status == SUCCEED) {
    for (k = 0; k < size / element; ++k)
      if (logits[k] > logits[best]) best = k;
    printf("class %d, logit %d\n", (int)best, (int)logits[best]);
  }
  free(logits);
  return status;
}

int main(int argc, char** argv) {
  int symbol_size = 0, params_size = 0, image_size = 0;
  enum CVMStatus status;
  ModelHandler net = NULL;
  unsigned long long needed = 0;
  IntHandler length = &needed;
  StringHandler symbol, params, image;
  if (argc != 4) {
    fprintf(stderr, "usage: inference SYMBOL PARAMS IMAGE\n");
    return ERROR_LOGIC;
  }
  symbol = read_file(argv[1], &symbol_size);
  params = read_file(argv[2], &params_size);
  image = read_file(argv[3], &image_size);
  if (symbol == NULL || params == NULL || image == NULL) {
    fprintf(stderr, "a file cannot be read\n");
    return ERROR_LOGIC;
  }
  status = CVMAPILoadModel(symbol, symbol_size, params, params_size, &net, 0, 0);
  if (status == SUCCEED) status = CVMAPIGetInputLength(net, length);
  /* A file of several images begins with the one that is meant. */
  if (status == SUCCEED && needed < (unsigned long long)image_size) image_size = (int)needed;
  if (status == SUCCEED) status = print_class(net, image, image_size);
  if (status != SUCCEED) fprintf(stderr, "the runtime answers with status %d\n", status);
  CVMAPIFreeModel(net);
  free(symbol);
  free(params);
  free(image);
  return status;
}
