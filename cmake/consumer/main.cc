/// @file
/// A program that links the installed libraries: it prints how many operators it found.
#include <cstdio>

#include "reference/evaluate.h"

int main() {
  std::printf("%zu operators\n", lockstep::operators().size());
  return lockstep::find_operator("conv2d") ? 0 : 1;
}
