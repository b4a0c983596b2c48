/* The specification as an oracle: a fuzzer's loop asks what clip must give, and what is illegal.
 *   cc -std=c99 examples/oracle.c $(pkg-config --cflags --libs lockstep_reference) -o oracle
 * Exit status: 0 if the oracle tells the right implementation below from the wrong one. */
#include <lockstep/reference.h>
#include <stdio.h>

static int32_t right(int32_t x, int32_t lo, int32_t hi) { return x < lo ? lo : x > hi ? hi : x; }
static int32_t wrong(int32_t x, int32_t lo, int32_t hi) { return x <= lo ? lo : x >= hi ? 0 : x; }

/* The number of wrong elements of a clip to lo..hi; -1 if the call is illegal. */
static int differences(int32_t (*clip)(int32_t, int32_t, int32_t), int32_t lo, int32_t hi) {
  char min[12], max[12];
  const int32_t x[] = {-100, -8, -7, 0, 6, 7, 100};
  const int64_t shape[] = {7};
  const int32_t* values = x;
  const lockstep_type input = {shape, 1, 8};
  const lockstep_attribute attributes[] = {{"a_min", min}, {"a_max", max}};
  const lockstep_call call = {"clip", attributes, 2, &input, 1};
  lockstep_outputs* y;
  int i, n = 0;
  snprintf(min, sizeof(min), "%d", (int)lo);
  snprintf(max, sizeof(max), "%d", (int)hi);
  if (lockstep_evaluate(&call, &values, &y) != LOCKSTEP_OK) {
    printf("clip to %d..%d is illegal: %s (%s)\n", (int)lo, (int)hi, lockstep_label(),
        lockstep_message());
    return -1;
  }
  for (i = 0; i < 7; ++i) n += clip(x[i], lo, hi) != lockstep_values(y, 0)[i];
  lockstep_release(y);
  printf("clip to %d..%d: %d of 7 elements differ\n", (int)lo, (int)hi, n);
  return n;
}

int main(void) {
  const int illegal = differences(right, 7, -8), good = differences(right, -8, 7);
  return illegal == -1 && good == 0 && differences(wrong, -8, 7) > 0 ? 0 : 1;
}
