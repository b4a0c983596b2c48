#include "conformance/host/memory_file.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace lockstep::judge {

int memory_file(std::uint64_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit lifted{limit.rlim_max, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &lifted);
  const auto before = signal(SIGXFSZ, SIG_IGN);  // its default would end the process without a word
  const int file = memfd_create("", MFD_CLOEXEC);
  const bool sized = file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0;
  const int why = errno;
  signal(SIGXFSZ, before);
  setrlimit(RLIMIT_FSIZE, &limit);
  if (sized) return file;
  if (file >= 0) close(file);
  throw std::runtime_error("no memory to share with a backend (" +
      std::string(why == EFBIG ? "ulimit -f forbids it" : std::strerror(why)) + ")");
}

}  // namespace lockstep::judge
