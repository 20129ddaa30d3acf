// The programs of the FinePack study in their replicated form, and how a catalogue entry chooses between that and the
// local form, which has one copy of the data and publishes nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "workload/catalog/entries.h"

namespace nearfar::replicated {

using Form = std::shared_ptr<const Workload>(const Parameters& parameters, std::uint64_t seed);

Form make_als, make_bellman_ford, make_ct, make_diffusion, make_eqwp, make_hit, make_jacobi, make_pagerank;

/// The parameters that choose the form.
inline std::vector<WorkloadParameter> with_form(std::vector<WorkloadParameter> parameters) {
  parameters.push_back(constant("ranks",
                                "GPUs that have a copy of the data each, 1 to 16 and a power of two, on a machine with "
                                "as many; 0 is the local form, with one copy for all",
                                0, 0, 16));
  parameters.push_back(constant("exchange",
                                "how ranks publish what they have written: 0 stores to the copies of those who read "
                                "it, 1 copies by the DMA after the kernel",
                                0, 0, 1));
  return parameters;
}

template <class Local, Form make_replicated>
std::shared_ptr<const Workload> construct_form(const Parameters& parameters, std::uint64_t seed) {
  if (parameters["ranks"] != 0) return make_replicated(parameters, seed);
  if (parameters["exchange"] != 0) parameters.refuse("exchange", "the local form (`ranks` 0) exchanges nothing", 0);
  return construct<Local>(parameters, seed);
}

}  // namespace nearfar::replicated
