// Runs a target on the files of a corpus, one after the other, without a fuzzer, under sanitizers.
//
// usage: replay FILE|DIRECTORY...
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "fuzz/target.h"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(int argc, char** argv) {
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(argv[i]))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The buffer has exactly the input's size, so that a sanitizer sees the first byte beyond.
bool read(const fs::path& file, std::vector<std::uint8_t>& input) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) return false;
  input = std::vector<std::uint8_t>(size);
  std::ifstream stream(file, std::ios::binary);
  return !!stream.read(reinterpret_cast<char*>(input.data()), std::ssize(input));
}

}  // namespace

int main(int argc, char** argv) {
  // A fuzzer notices a mistake by a signal, a test by an exit status.
  std::signal(SIGABRT, [](int) { std::_Exit(1); });
  const std::vector<fs::path> files = files_of(argc, argv);
  for (const fs::path& file : files) {
    std::vector<std::uint8_t> input;
    if (!read(file, input)) {
      std::fprintf(stderr, "cannot read %s\n", file.c_str());
      return 2;
    }
    // Print the name first, because a target that finds something does not return.
    std::fprintf(stderr, "%s\n", file.c_str());
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu inputs replayed\n", files.size());
  return files.empty() ? 2 : 0;
}
