/* A backend in C that runs as a process: relu, abs and negative, in the JSON Lines protocol.
 *   cc -std=c11 examples/elementwise.c -o elementwise
 *   lockstep check exec:./elementwise --op relu,abs,negative --property matches_reference
 * Calls come without blanks and with their keys in a fixed order (docs/lines.md), so this reader
 * only needs to find each key. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* after(const char* text, const char* key) {
  const char* at = text ? strstr(text, key) : NULL;
  return at ? at + strlen(key) : NULL;
}

static long long evaluate(const char* op, long long x) {
  if (strcmp(op, "relu") == 0) return x > 0 ? x : 0;
  if (strcmp(op, "abs") == 0) return x < 0 ? -x : x;
  return -x;
}

static int known(const char* op) {
  return strcmp(op, "relu") == 0 || strcmp(op, "abs") == 0 || strcmp(op, "negative") == 0;
}

int main(void) {
  char *line = NULL, op[64];
  size_t room = 0;
  while (getline(&line, &room, stdin) > 0) {
    const char *id = after(line, "{\"id\":"), *name = after(id, ",\"op\":\"");
    const char *precision = after(name, "\"in_prec\":["), *shape = after(precision, "\"shape\":[");
    const char* data = after(shape, "\"data\":[");
    if (!name || sscanf(name, "%63[a-z0-9_]", op) != 1) return EXIT_FAILURE;
    printf("{\"id\":%.*s,", (int)(name - id) - (int)strlen(",\"op\":\""), id);
    if (!known(op) || !data) {
      printf("\"status\":\"unsupported\",\"message\":\"only relu, abs and negative\"}\n");
    } else {
      printf("\"status\":\"ok\",\"out\":[{\"shape\":[%.*s],\"prec\":%d,\"data\":",
          (int)strcspn(shape, "]"), shape, atoi(precision));
      char separator = '[';
      for (char* end; separator == '[' || separator == ','; data = end + 1) {
        const long long x = strtoll(data, &end, 10);
        printf("%c%lld", separator, evaluate(op, x));
        separator = *end;
      }
      printf("]}]}\n");
    }
    fflush(stdout);
  }
  free(line);
  return EXIT_SUCCESS;
}
