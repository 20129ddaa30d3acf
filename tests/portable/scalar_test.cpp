// What has instructions of x86 also stands there without them, for other processors. Here the code without them is
// compiled under a name of its own (tests/CMakeLists.txt: without AVX; NEARFAR_SCALAR: without SSE2), and goes through
// the tests of the code with them.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#define nearfar nearfar_scalar
#include "gpu/coalescer.cpp"
#include "gpu/coalescer_test.cpp"
#include "translation/tlb/replacement.cpp"
#include "translation/tlb/tlb.cpp"
#include "translation/tlb_array_test.cpp"
#undef nearfar

#if defined(__AVX__)
#error "this source is to be compiled without AVX"
#endif
