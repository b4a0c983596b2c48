/// @file
/// A directory of golden vectors for a test to spoil, and what the readers say of it.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>

#include "conformance/golden/vectors.h"
#include "conformance/tests/expect.h"
#include "conformance/tests/program.h"

namespace lockstep::judge {

inline const std::string kFrozenVectors = "conformance/vectors";

/// The reader's error for a file's text; empty if it accepts the text.
inline std::string said_of_text(const std::string& text) {
  return words_of<UsageError>([&] { read_vectors(text, "f.json"); });
}

struct VectorSet {
  Scratch scratch;

  std::string directory() const { return scratch.path(""); }
  std::string path(const std::string& op) const { return scratch.path(op + ".json"); }
  void copy_frozen() const {
    for (const auto& e : std::filesystem::directory_iterator(kFrozenVectors))
      std::filesystem::copy_file(e.path(), scratch.path(e.path().filename()));
  }
  void put(const VectorFile& f) const {
    scratch.write(std::string(f.op->name) + ".json", file_text(f));
  }
  VectorFile get(const std::string& op) const {
    return read_vectors(text_of_file(path(op)), "f.json");
  }
  /// Applies `change` to one file, which is written canonically again.
  template <class F> void edit(const std::string& op, F change) const {
    VectorFile f = get(op);
    change(f);
    put(f);
  }
  /// What check says of the present files.
  std::vector<std::string> said() const {
    std::vector<std::string> all = check_vectors(directory()).differences;
    std::erase_if(all, [](const std::string& s) { return s.ends_with(" is missing"); });
    return all;
  }
  bool says(const std::string& sentence) const {
    const std::vector<std::string> all = said();
    return std::count(all.begin(), all.end(), sentence) > 0;
  }
};

}  // namespace lockstep::judge
