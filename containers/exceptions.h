/// @file
/// Whose fault it is: the two exceptions that every error of this project derives from, and the one
/// that says where memory ran out.
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace lockstep::utils {

/// A fault of the machine or of this project: status 2.
class LogMessageFatal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A fault of the caller or of what the caller supplied: status 1.
class ValueVerifyFatal : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// The machine has too little memory.
class OutOfMemory : public LogMessageFatal {
 public:
  /// `path` names the file, or the part of a model, for which memory was needed.
  explicit OutOfMemory(const std::string& what, std::string path = {})
      : LogMessageFatal(what), path_(std::move(path)) {}

  /// The file or the part of a model; empty where it is not known.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

namespace detail {

[[noreturn]] inline void fail_without_memory(
    std::string_view doing, std::string_view path, std::string_view why) {
  std::string what(doing);
  if (!path.empty()) what.append(" '").append(path).append("'");
  throw OutOfMemory(what.append(": ").append(why), std::string(path));
}

}  // namespace detail

/// Runs `body`. Where memory runs out in it, the error says what was being done, such as "reading",
/// and to which file; an error that names a file already stays as it is.
/// @throws OutOfMemory in place of std::bad_alloc, unless not even its text finds room; whatever
///         else `body` throws.
template <class Body>
auto naming_out_of_memory(std::string_view doing, std::string_view path, const Body& body) {
  try {
    return body();
  } catch (const OutOfMemory& error) {
    if (!error.path().empty()) throw;
    detail::fail_without_memory(doing, path, error.what());
  } catch (const std::bad_alloc&) {
    detail::fail_without_memory(doing, path, "there is too little memory");
  }
}

}  // namespace lockstep::utils
