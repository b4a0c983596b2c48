/// @file
/// Runs the program as a user does: a process with arguments, two streams and an exit code.
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace lockstep::judge {

using Variables = std::map<std::string, std::string>;

/// How a program ended.
struct Ended {
  int exit = -1;  ///< -1: it was killed, by a signal or because its time was up
  std::string out, err;
};

/// `<build>` of the build tree these tests are part of.
inline std::filesystem::path build_directory() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}
inline std::string program() { return (build_directory() / "bin" / "lockstep").string(); }
inline std::string hostile(const std::string& name) {
  return (build_directory() / "tests" / "hostile" / (name + ".so")).string();
}

/// A directory of the test's own, deleted with the object.
class Scratch {
 public:
  Scratch() {
    char name[] = "/tmp/lockstep-test-XXXXXX";
    if (!mkdtemp(name)) throw std::runtime_error("no directory for the test's files");
    directory_ = name;
  }
  Scratch(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove_all(directory_); }
  std::string path(const std::string& file) const { return directory_ + "/" + file; }
  std::string write(const std::string& file, const std::string& text) const {
    std::ofstream(path(file)) << text;
    return path(file);
  }

 private:
  std::string directory_;
};

inline std::string text_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline std::string text_of_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

namespace detail {

[[noreturn]] inline void become(
    const std::vector<std::string>& command, const Variables& env, const std::string (&files)[3]) {
  setpgid(0, 0);
  for (int fd = 0; fd < 3; ++fd) {
    const int file =
        open(files[fd].c_str(), fd == 0 ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, fd) < 0) _exit(126);
  }
  for (const auto& [key, value] : env) setenv(key.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

}  // namespace detail

/// Runs a command and waits for its end. A command that has not ended after `limit` seconds hangs:
/// the limit is far above what a busy machine takes.
inline Ended run(const std::vector<std::string>& command, const std::string& input = "",
    const Variables& env = {}, double limit = 600) {
  using Clock = std::chrono::steady_clock;
  const Scratch scratch;
  const std::string files[] = {
      scratch.write("in", input), scratch.path("out"), scratch.path("err")};
  const auto end = Clock::now() + std::chrono::duration<double>(limit);
  const pid_t pid = fork();
  if (pid == 0) detail::become(command, env, files);
  Ended e;
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (Clock::now() > end) kill(-pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (WIFEXITED(status)) e.exit = WEXITSTATUS(status);
  e.out = text_of_file(files[1]);
  e.err = text_of_file(files[2]);
  return e;
}

/// The status of a child of this process that only runs this: 0 if it ends by itself.
inline int status_of(const std::function<void()>& child) {
  const pid_t pid = fork();
  if (pid == 0) {
    child();
    _exit(0);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  return status;
}

/// Runs `lockstep` with these words.
inline Ended lockstep_says(
    std::vector<std::string> words, const Variables& env = {}, const std::string& input = "") {
  words.insert(words.begin(), program());
  return run(words, input, env);
}

}  // namespace lockstep::judge
