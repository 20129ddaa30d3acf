#include "coherence/directory_check.h"

#include <fmt/format.h>

#include "sim/error.h"

namespace nearfar {

std::string problem_with_sharers(Sharers sharers, const DirectoryHome& home) {
  if ((sharers & sharer(home.gpu)) != 0) return "the home is a sharer of its own line";
  if (home.gpus < kMaxDirectoryGpus && sharers >> home.gpus != 0) return "a GPU is a sharer that does not exist";
  return "";
}

void require_none(const std::string& problem, const DirectoryHome& home) {
  if (problem.empty()) return;
  throw SimulationError(fmt::format("the coherence directory of GPU {} is broken: {}", home.gpu.value, problem));
}

}  // namespace nearfar
