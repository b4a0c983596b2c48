// A backend as a process: the reference, with the bad habits that its arguments name.
//   eval_reference [crash-after N | hang-after N | noisy]
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "conformance/subjects/eval.h"
#include "conformance/subjects/reference_subject.h"

int main(int argc, char** argv) {
  using namespace lockstep::judge;
  const std::string habit = argc > 1 ? argv[1] : "";
  const long after = argc > 2 ? std::atol(argv[2]) : -1;
  std::ios::sync_with_stdio(false);
  ReferenceSubject reference;
  std::string line;
  for (long number = 1; std::getline(std::cin, line); ++number) {
    if (habit == "noisy") std::cerr << std::string(1 << 20, 'n') << std::endl;
    if (habit == "crash-after" && number > after) {
      std::cerr << "the third law is broken" << std::endl;
      std::abort();
    }
    if (habit == "hang-after" && number > after) sleep(999);
    std::cout << eval_line(reference, line, number) << std::endl;
  }
}
