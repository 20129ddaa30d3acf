// Whether this processor has the instructions that the program is compiled for. Asked before anything else begins, and
// compiled for all processors: without it there would be nothing but "Illegal instruction".
#if defined(NEARFAR_NEEDS_X86_64_V3)
#include <unistd.h>

#include <string_view>

namespace {

// What g++ uses of x86-64-v3; the C++ library has not begun yet.
[[gnu::constructor(101)]] void check_processor() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
      __builtin_cpu_supports("fma")) {
    return;
  }
  constexpr std::string_view kMessage =
      "nearfar: error: This program is built for x86-64-v3 processors (AVX2, from 2013 on), and this one is older. "
      "Configure with -DNEARFAR_NATIVE=ON on this machine, or with -DNEARFAR_BASELINE=x86-64-v2.\n";
  const auto written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(written < 0 ? 3 : 2);
}

}  // namespace
#endif
