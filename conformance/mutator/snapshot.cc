#include "conformance/mutator/snapshot.h"

#include <algorithm>
#include <utility>

#include "conformance/base/read_file.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;

// Copies a file with its time, by which a build tool knows what is up to date.
void copy_with_time(const fs::path& from, const fs::path& to, fs::file_time_type time) {
  fs::create_directories(to.parent_path());
  fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  fs::last_write_time(to, time);
}

}  // namespace

Snapshot::Snapshot(fs::path live, fs::path kept) : live_(std::move(live)), kept_(std::move(kept)) {
  fs::remove_all(kept_);
  for (const auto& entry : fs::recursive_directory_iterator(live_)) {
    if (!fs::is_regular_file(entry.symlink_status())) continue;
    const File& f = files_.emplace_back(
        File{fs::relative(entry.path(), live_), entry.last_write_time(), entry.file_size()});
    copy_with_time(entry.path(), kept_ / f.path, f.time);
  }
}

bool Snapshot::holds() const {
  const auto is_same = [&](const File& f) {
    if (f.path.filename().string().starts_with(".ninja_")) return true;
    const fs::path live = live_ / f.path;
    std::error_code gone;
    if (fs::file_size(live, gone) != f.size || gone) return false;
    return fs::last_write_time(live) == f.time || read_file(live) == read_file(kept_ / f.path);
  };
  return std::all_of(files_.begin(), files_.end(), is_same);
}

void Snapshot::restore() const {
  for (const File& f : files_) {
    const fs::path live = live_ / f.path;
    std::error_code gone;
    const bool is_kept =
        fs::file_size(live, gone) == f.size && !gone && fs::last_write_time(live) == f.time;
    // A running program cannot be overwritten, but it can be replaced.
    if (is_kept) continue;
    fs::remove(live);
    copy_with_time(kept_ / f.path, live, f.time);
  }
}

}  // namespace lockstep::judge
