/// @file
/// The backend ABI from the caller's side: a library's table, and a call's attributes.
#pragma once
#include <string>

#include "backends/backend.h"
#include "spec/info.h"

namespace lockstep::judge {

/// Loads a backend library, for good. What its table ends too early to have is null.
/// @throws std::runtime_error saying why it is no backend.
ls_api load_backend(const std::string& path);

/// The attributes of a call as the ABI wants them.
class AbiAttributes {
 public:
  AbiAttributes(const OpInfo& op, Attributes values);
  AbiAttributes(const AbiAttributes&) = delete;  // the rows point into the object
  const ls_attr* data() const { return rows_; }
  uint32_t size() const { return static_cast<uint32_t>(count_); }

 private:
  ls_attr row(const AttrInfo& f, const Attr& v) const;

  int count_ = 0;
  ls_attr rows_[kMaxAttributes];
  std::string keys_[kMaxAttributes], words_[kMaxAttributes];
};

}  // namespace lockstep::judge
