#include "sim/huge_pages.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

namespace nearfar {

void use_huge_pages(char** argv) {
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // Who has wishes of their own keeps them; and the program does not start a third time.
  if (std::getenv("GLIBC_TUNABLES") != nullptr) return;
  std::array<char, 4096> path{};
  if (readlink("/proc/self/exe", path.data(), path.size() - 1) <= 0) return;
  setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 1);
  execv(path.data(), argv);
#else
  (void)argv;
#endif
}

}  // namespace nearfar
