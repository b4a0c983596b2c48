#include "conformance/run/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "conformance/base/usage_error.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;

constexpr const char* kFormat = "lockstep_journal";

// Every journal begins with this text.
std::string head() { return "{\"" + std::string(kFormat) + "\":1,"; }

std::string text_of(int fd) {
  std::string text;
  char chunk[1 << 16];
  for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) != 0;) {
    if (n < 0) throw std::system_error(errno, std::generic_category(), "cannot read the journal");
    text.append(chunk, static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace

Journal::Journal(const std::string& file, const json& run, std::size_t cases) : file_(file) {
  fd_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0666);
  if (fd_ < 0) refuse(std::strerror(errno));
  try {
    if (flock(fd_, LOCK_EX | LOCK_NB) != 0) refuse("another run is using it");
    std::string text = text_of(fd_);
    // Check the head before truncating: the file may not be a journal.
    if (text.substr(0, head().size()) != head().substr(0, text.size())) refuse("it is no journal");
    // Only the last line can be incomplete.
    text.resize(text.rfind('\n') + 1);  // npos + 1 is 0
    if (ftruncate(fd_, static_cast<off_t>(text.size())) != 0) refuse(std::strerror(errno));
    if (text.empty())
      begin(run);
    else
      go_on(text, run, cases);
  } catch (...) {
    close(fd_);
    throw;
  }
}

Journal::~Journal() { close(fd_); }

void Journal::refuse(const std::string& why) const {
  throw UsageError("journal '" + file_ + "': " + why);
}

void Journal::begin(const json& run) { add(json{{kFormat, 1}, {"run", run}}.dump()); }

void Journal::go_on(const std::string& text, const json& run, std::size_t cases) {
  std::size_t from = 0, number = 1;
  for (std::size_t end; (end = text.find('\n', from)) != std::string::npos; from = end + 1) {
    const std::string line = text.substr(from, end - from);
    const json j = json::parse(line, nullptr, false);
    if (number++ == 1) {
      if (!j.is_object() || !j.contains("run") || !j["run"].is_object())
        refuse("its first line does not describe a run");
      for (const auto& [key, value] : run.items())
        if (const json was = j["run"].value(key, json()); was != value)
          refuse(fmt::format(
              "it belongs to another run: its {} is {}, not {}", key, was.dump(), value.dump()));
      continue;
    }
    if (!j.is_object() || !j.contains("n") || !j["n"].is_number_unsigned() || j["n"] >= cases ||
        !known_.emplace(j["n"].get<std::size_t>(), line).second)
      refuse(fmt::format("line {} is no result of this run", number - 1));
  }
}

void Journal::add(const std::string& line) {
  const std::string whole = line + "\n";
  for (std::size_t at = 0; at < whole.size();) {
    const ssize_t n = write(fd_, whole.data() + at, whole.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      throw std::system_error(errno, std::generic_category(), "cannot write '" + file_ + "'");
    at += static_cast<std::size_t>(n);
  }
}

}  // namespace lockstep::judge
