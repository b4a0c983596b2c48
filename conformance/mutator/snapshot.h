/// @file
/// A directory that can be brought back to what it was.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace lockstep::judge {

/// What a build left of the sources as they are. After a mutant it is copied back, times and all,
/// so that nothing has to be built again for the next one.
class Snapshot {
 public:
  /// Copies the regular files of `live` to `kept`, in place of what was there.
  Snapshot(std::filesystem::path live, std::filesystem::path kept);

  /// Brings back every file that changed or went.
  void restore() const;

  /// Whether every file has the bytes that it had. The records that Ninja keeps do not count.
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
