/// @file
/// A library's backend in each of its configurations.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/client.hpp"

namespace lockstep::judge {

/// The backends of a library, each opened at its first use.
class Backends {
 public:
  /// Loads the library.
  Backends(const std::string& path, const std::vector<client::Options>& configs)
      : library_(client::Library::load(path)), configs_(configs), opened_(configs.size()) {}
  const client::Library& library() const { return library_; }

  /// The backend opened with configuration `i`, or why it cannot be opened.
  client::Result<const client::Backend*> open(int i) {
    std::optional<client::Backend>& backend = opened_[static_cast<std::size_t>(i)];
    if (backend) return &*backend;
    auto opened = client::Backend::open(library_, configs_[static_cast<std::size_t>(i)]);
    if (!opened.ok()) {
      client::Status status = opened.status();
      status.text = "open() failed: " + status.text;
      return status;
    }
    ++opens_;
    return &backend.emplace(std::move(*opened));
  }
  void close() {
    for (auto& backend : opened_) backend.reset();
    opens_ = 0;
  }
  /// How many are open.
  std::ptrdiff_t open_ones() const {
    return std::count_if(
        opened_.begin(), opened_.end(), [](const auto& b) { return b.has_value(); });
  }
  /// How often one was opened since all were closed.
  std::ptrdiff_t opens() const { return opens_; }

 private:
  client::Library library_;
  std::vector<client::Options> configs_;
  std::vector<std::optional<client::Backend>> opened_;
  std::ptrdiff_t opens_ = 0;
};

}  // namespace lockstep::judge
