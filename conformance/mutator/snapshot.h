/// @file
/// A directory that can be restored.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace lockstep::judge {

/// The build of the unchanged sources. After a mutant it is restored with its times, so that the
/// next mutant needs no full build.
class Snapshot {
 public:
  /// Copies the regular files of `live` to `kept`, in place of what was there.
  Snapshot(std::filesystem::path live, std::filesystem::path kept);

  /// Restores every file that changed or was removed.
  void restore() const;

  /// Whether every file is unchanged, except the records that Ninja keeps.
  bool holds() const;

 private:
  struct File {
    std::filesystem::path path;  // in either directory
    std::filesystem::file_time_type time;
    std::uintmax_t size;
  };

  std::filesystem::path live_, kept_;
  std::vector<File> files_;
};

}  // namespace lockstep::judge
