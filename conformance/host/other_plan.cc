#include "conformance/host/other_plan.h"

#include <optional>
#include <span>
#include <utility>

#include "conformance/host/calls.h"

namespace lockstep::judge {

OtherPlan::OtherPlan(const client::Backend& backend, const Letter& letter, const char* mail)
    : backend_(backend),
      types_(types_of(letter, mail)),
      call_(call_of(letter, types_, mail)),
      plan_(backend.prepare(call_)) {}

client::Status OtherPlan::add_tensor(const client::TensorView& type) {
  auto tensor = backend_.tensor({type.shape.begin(), type.shape.end()}, type.precision);
  if (!tensor.ok()) return tensor.status();
  tensors_.push_back(std::move(*tensor));
  return tensors_.back().write(std::vector<int32_t>(tensors_.back().volume()));
}

client::Status OtherPlan::run() {
  for (const auto* ports : {&call_.in, &call_.out})
    for (const client::TensorView& type : *ports)
      if (client::Status s = add_tensor(type); !s.ok()) return s;
  std::vector<void*> data;
  for (const client::DeviceTensor& t : tensors_) data.push_back(t.data());
  auto stream = backend_.stream();
  if (!stream.ok()) return stream.status();
  std::optional<client::Memory> scratch;
  if (plan_->scratch_bytes() > 0) {
    auto memory = backend_.allocate(plan_->scratch_bytes());
    if (!memory.ok()) return memory.status();
    scratch.emplace(std::move(*memory));
  }
  const std::size_t inputs = call_.in.size();
  client::Status status = plan_->execute({data.data(), inputs}, std::span(data).subspan(inputs),
      scratch ? scratch->data() : nullptr, stream->handle());
  return status.ok() ? stream->wait() : status;
}

}  // namespace lockstep::judge
