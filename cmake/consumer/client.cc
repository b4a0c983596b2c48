/// @file
/// A program that computes with a backend in its own process, built with only the installed
/// headers. usage: client LIBRARY
#include "backends/client.hpp"

#include <array>
#include <cstdio>

int main(int, char** arguments) try {
  using namespace lockstep::client;
  const Backend backend = Backend::open(Library::load(arguments[1])).value();
  DeviceTensor x = backend.tensor({3}, 8).value(), y = backend.tensor({3}, 8).value();
  const Plan plan = backend.prepare({"relu", {}, {x.view()}, {y.view()}}).value();
  std::array<int32_t, 3> values = {-2, 0, 5};
  x.write(values).check();
  plan.run({x.data()}, {y.data()}).check();
  y.read(values).check();
  std::printf("%s: %d %d %d\n", plan.path().c_str(), values[0], values[1], values[2]);
  return values == std::array<int32_t, 3>{0, 0, 5} ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "client: %s\n", e.what());
  return 2;
}
