#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <system_error>
#include <utility>

#include "conformance/base/places.h"
#include "conformance/base/read_file.h"
#include "conformance/base/text.h"
#include "conformance/cli/verbs.h"

namespace lockstep::judge {
namespace {

constexpr const char* kFromFile = "@";

// Whether a text is a number that T cannot hold: the conversion would take the nearest one that it
// can.
template <class T> bool is_beyond(const std::string& text) {
  T v{};
  return std::from_chars(text.data(), text.data() + text.size(), v).ec ==
      std::errc::result_out_of_range;
}

CLI::Validator whole_number(i64 least, const char* name) {
  const CLI::Range range(least, INT64_MAX, name);
  return {[range](std::string& text) {
            return is_beyond<i64>(text) ? "'" + text + "' is beyond 64 bits" : range(text);
          },
      name};
}

void read_cases(std::istream& in, std::vector<std::string>& cases) {
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') cases.push_back(line);
}

}  // namespace

CLI::Validator positive() { return whole_number(1, "POSITIVE"); }
CLI::Validator not_negative() { return whole_number(0, "NONNEGATIVE"); }

CLI::Validator number() {
  return {[](const std::string& text) {
            return text.find_first_of("nN") == text.npos ? "" : "'" + text + "' is no number";
          },
      ""};
}
CLI::Validator without_sign() {
  return {[](const std::string& text) {
            if (text.starts_with('-')) return "'" + text + "' is less than 0";
            return is_beyond<u64>(text) ? "'" + text + "' is beyond 64 bits" : "";
          },
      ""};
}

void add_run(CLI::App& verb, RunOptions& o) {
  verb.add_option("backend", o.backend, "name, library or exec:COMMAND")->required();
  add_selection(verb, o.selection);
  add_conduct(verb, o.conduct);
  verb.add_flag("--quiet", o.quiet, "no progress");
}

void add_selection(CLI::App& verb, Selection& s) {
  verb.add_option("--tier", s.tier, "0 smoke, 1 CI, 2 conformance, 3 exhaustive")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
  verb.add_option("--seed", s.seed, "seed of the case set")
      ->check(without_sign())
      ->capture_default_str();
  verb.add_option("--op", s.operators, "only these operators; * and ? match")->delimiter(',');
  verb.add_option("--profile", s.profiles, "only operators of these profiles (lockstep list)")
      ->delimiter(',');
  verb.add_option("--property", s.properties, "only these properties")->delimiter(',');
  verb.add_option("--case", s.cases, "only this case (repeatable)");
  verb.add_option_function<std::string>(
      "--cases", [&s](const std::string& file) { s.cases.push_back(kFromFile + file); },
      "only the cases of a file, one id a line; - is standard input");
  verb.add_option("--model", s.model,
          "only the calls of a model, with its shapes and precisions: a directory with symbol.json")
      ->check(CLI::ExistingDirectory);
  verb.add_option("--budget", s.budget, "at most so many cases")->check(positive());
  verb.add_option("--nonce", s.nonce, "words of a verifier, from which further cases follow");
  s.kills = kill_matrix_file();
  s.vectors = vector_directory();
  verb.add_option("--vectors", s.vectors, "directory of golden vectors");
}

void finish_selection(Selection& s) {
  if (s.vectors.empty() && vector_directory().empty())
    fmt::print(stderr,
        "lockstep: no golden vectors are installed beside the program, so neither they nor illegal "
        "text of attributes are put to a backend\n");
  std::vector<std::string> cases;
  for (const std::string& c : s.cases) {
    if (c.rfind(kFromFile, 0) != 0) {
      cases.push_back(c);
      continue;
    }
    const std::string file = c.substr(1);
    if (file == "-") {
      read_cases(std::cin, cases);
    } else {
      std::istringstream in(read_file(file));
      read_cases(in, cases);
    }
    if (cases.empty()) throw UsageError("no case in '" + file + "'");
  }
  s.cases = cases;
}

void add_settings(CLI::App& verb, Options& set) {
  verb.add_option_function<std::vector<std::string>>(
          "--set",
          [&set](const std::vector<std::string>& settings) {
            for (const std::string& s : settings) {
              const std::size_t eq = s.find('=');
              if (eq == std::string::npos) throw CLI::ValidationError("--set", "needs KEY=VALUE");
              set[s.substr(0, eq)] = s.substr(eq + 1);
            }
          },
          "an option of the backend, KEY=VALUE (repeatable)")
      ->allow_extra_args(false);
}

void add_limits(CLI::App& verb, Limits& l) {
  verb.add_option("--timeout", l.timeout_s, "seconds for one answer")
      ->check(CLI::Range(0.001, 1e6))
      ->check(number())
      ->capture_default_str();
  verb.add_option("--start-timeout", l.start_s, "seconds until a backend is ready")
      ->check(CLI::Range(0.001, 1e6))
      ->check(number())
      ->capture_default_str();
  verb.add_option(
          "--memory", l.memory_gib, "GiB that a backend may allocate in host memory; 0: no limit")
      ->check(CLI::Range(0.0, 1e6))
      ->check(number())
      ->capture_default_str();
  add_settings(verb, l.set);
}

void add_conduct(CLI::App& verb, Conduct& c) {
  verb.add_option("--jobs", c.jobs,
          "judging processes; 0: one per processor, but one for the backend of a device")
      ->check(not_negative());
  add_limits(verb, c.limits);
}

void flush_output() {
  std::cout.flush();
  const bool arrived = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout;
  // It is no failure if the reader of a pipe has seen enough and closed it.
  if (!arrived && errno != EPIPE)
    throw std::runtime_error(
        std::string("cannot write to standard output: ") + std::strerror(errno));
}

void write_output(const std::string& path, const std::string& text) {
  if (path != "-") return write_file(path, text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  flush_output();
}

bool require_writable(const std::vector<std::string>& files) {
  namespace fs = std::filesystem;
  int printed = 0;
  for (const std::string& file : files) {
    printed += file == "-";
    std::error_code unknown;  // opening the file says why
    // To open and close a pipe would show its reader an end of file.
    if (file.empty() || file == "-" || fs::is_fifo(file, unknown)) continue;
    const bool existed = fs::exists(file, unknown);
    if (!std::ofstream(file, std::ios::app))
      throw UsageError("cannot write '" + file + "': " + std::strerror(errno));
    if (!existed) fs::remove(file);
  }
  if (printed > 1) throw UsageError("only one output can go to standard output");
  return printed > 0;
}

Screen screen() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return {size.ws_row, size.ws_col};
}

bool colour_wanted() { return isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR"); }

std::function<void(i64, i64, i64)> progress_to_stderr(
    const std::string& what, bool quiet, const char* unit) {
  using Clock = std::chrono::steady_clock;
  if (quiet) return {};
  const bool terminal = isatty(STDERR_FILENO);
  const auto pause = terminal ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
  struct Mark {
    Clock::time_point at;
    i64 done;
  };
  // The clock starts with the first report of progress: making the cases, before it, does not
  // count. The pace is that of the last seconds, because the last cases of a run are large.
  constexpr auto kLately = std::chrono::seconds(10);
  return [=, since = Mark(), next = Mark(), last = Clock::time_point()](
             i64 done, i64 all, i64 failed) mutable {
    const auto now = Clock::now();
    if (since.at == Clock::time_point()) since = next = {last = now, done};
    if (now - last < pause && !(terminal && done == all)) return;
    last = now;
    const Pace lately{done - since.done, std::chrono::duration<double>(now - since.at).count()};
    if (now - next.at >= kLately) since = std::exchange(next, {now, done});
    fmt::print(stderr, "{}{}{}", terminal ? "\r\033[K" : "",
        progress_text(what, done, all, failed, lately, unit), terminal && done != all ? "" : "\n");
    std::fflush(stderr);
  };
}

}  // namespace lockstep::judge
