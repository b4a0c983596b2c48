// Code that must not compile. The first line of each case compiles; the second, which differs in
// that one point only, must not. So no case fails by a typing error. One test compiles all first
// lines; one per case tries its second line and looks for the error that is named beside the case.
#include "containers/tensor/interop.h"

#if defined(MUST_NOT_COMPILE)
#define GOOD(...)
#define BAD(...) __VA_ARGS__
#else
#define GOOD(...) \
  { __VA_ARGS__ }
#define BAD(...)
#endif

namespace lockstep::ndarray {

using Matrix = Tensor<float, 2, CpuDevice>;
using Remote = Tensor<float, 2, GpuDevice>;

struct Material {
  Matrix a, b;
  Remote remote;
  Dim<2> dim;
  Allocation<CpuDevice> memory;
  const Allocation<CpuDevice> other;
};

void attempt(Material& m);
void attempt([[maybe_unused]] Material& m) {
#if defined(CASE_copying)  // error: deleted
  GOOD(Matrix c(std::move(m.a));)
  BAD(Matrix c(m.a);)
#endif
#if defined(CASE_assigning)  // error: deleted
  GOOD(m.a = std::move(m.b);)
  BAD(m.a = m.b;)
#endif
#if defined(CASE_copying_an_allocation)  // error: deleted
  GOOD(Allocation<CpuDevice> c(std::move(m.memory));)
  BAD(Allocation<CpuDevice> c(m.other);)
#endif
#if defined(CASE_assigning_an_allocation)  // error: deleted
  GOOD(m.memory = Allocation<CpuDevice>();)
  BAD(m.memory = m.other;)
#endif
#if defined(CASE_size_of_wrong_rank)  // error: no matching (function|constructor)
  GOOD(Matrix c(make_dim(2, 3), CpuDevice());)
  BAD(Matrix c(make_dim(2, 3, 4), CpuDevice());)
#endif
#if defined(CASE_resize_to_wrong_rank)  // error: could not convert|cannot convert|no viable
  GOOD(m.a.resize(make_dim(2, 3));)
  BAD(m.a.resize(make_dim(2, 3, 4));)
#endif
#if defined(CASE_reshape_to_wrong_rank)  // error: could not convert|cannot convert|no viable
  GOOD(m.a.reshape(make_dim(0, 3));)
  BAD(m.a.reshape(make_dim(3));)
#endif
#if defined(CASE_index_of_wrong_rank)  // error: could not convert|cannot convert|no viable
  GOOD(m.a.index(make_dim(2, 3));)
  BAD(m.a.index(make_dim(2));)
#endif
#if defined(CASE_numbers_of_wrong_rank)  // error: no matching (function|constructor)
  GOOD(Dim<3> d(1, 2, 3);)
  BAD(Dim<3> d(1, 2);)
#endif
#if defined(CASE_rank_too_high)  // error: a Dim has 0 to 9 numbers
  GOOD(Dim<9> d;)
  BAD(Dim<10> d;)
#endif
#if defined(CASE_rank_below_zero)  // error: a Dim has 0 to 9 numbers
  GOOD(Dim<0> d;)
  BAD(Dim<-1> d;)
#endif
#if defined(CASE_number_of_no_axis)  // error: there is no such axis
  GOOD(get<1>(m.dim);)
  BAD(get<2>(m.dim);)
#endif
#if defined(CASE_number_that_is_no_integer)  // error: no matching (function|constructor)
  GOOD(Dim<2> d(1, 2);)
  BAD(Dim<2> d(1, 2.0);)
#endif
#if defined(CASE_comparing_ranks)  // error: no match for|invalid operands
  GOOD(static_cast<void>(m.dim == make_dim(1, 2));)
  BAD(static_cast<void>(m.dim == make_dim(1, 2, 3));)
#endif
#if defined(CASE_memory_of_wrong_device)  // error: no matching (function|constructor)
  GOOD(Matrix c(make_dim(2, 3), CpuDevice());)
  BAD(Matrix c(make_dim(2, 3), GpuDevice());)
#endif
#if defined(CASE_sharing_with_another_device)  // error: no matching (function|constructor)
  GOOD(Matrix c(make_dim(0, 3), m.a);)
  BAD(Matrix c(make_dim(0, 3), m.remote);)
#endif
#if defined(CASE_sharing_with_another_type)  // error: no matching (function|constructor)
  GOOD(Tensor<float, 2, CpuDevice> c(make_dim(0, 3), m.a);)
  BAD(Tensor<int, 2, CpuDevice> c(make_dim(0, 3), m.a);)
#endif
#if defined(CASE_moving_to_another_device)  // error: no match for|no viable
  GOOD(m.a = Copy(m.remote, CpuDevice());)
  BAD(m.a = Copy(m.remote, GpuDevice());)
#endif
#if defined(CASE_elements_that_are_no_numbers)  // error: elements are integers or floating-point
  GOOD(Tensor<char, 1, CpuDevice> c;)
  BAD(Tensor<bool, 1, CpuDevice> c;)
#endif
#if defined(CASE_elements_that_are_const)  // error: elements are integers or floating-point
  GOOD(Tensor<float, 1, CpuDevice> c;)
  BAD(Tensor<const float, 1, CpuDevice> c;)
#endif
}

}  // namespace lockstep::ndarray
