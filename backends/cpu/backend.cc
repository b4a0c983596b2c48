/// @file
/// The CPU backend as a library.
#include "backends/cpu/cpu.h"

const ls_api* lockstep_backend_v1() { return lockstep::backend::table<lockstep::cpu::Cpu>(); }
