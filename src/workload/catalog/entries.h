// What the catalogue and the files of its workloads know of each other: one pair of functions a workload.
//
// Kernels issue what the compiled kernels of the suites issue, in their order: vector and scalar arithmetic, loads,
// stores, waits, local memory, barriers. Loads of kernel arguments are counted as scalar instructions, because the
// argument block is no buffer and always hits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/workload.h"
#include "workload/catalog.h"

namespace nearfar {

/// A workload's parameters, complete: the size's values with the user's own laid over them, each within its range.
class Parameters {
 public:
  Parameters(std::string workload, std::vector<ParameterSetting> values)
      : workload_(std::move(workload)), values_(std::move(values)) {}

  std::uint64_t operator[](std::string_view name) const;
  std::uint32_t u32(std::string_view name) const { return static_cast<std::uint32_t>((*this)[name]); }

  /// Refuses a value that is impossible together with others: `expected` goes on after "but".
  [[noreturn]] void refuse(std::string_view name, std::string_view expected, std::uint64_t nearest) const;

 private:
  std::string workload_;
  std::vector<ParameterSetting> values_;
};

struct CatalogEntry {
  WorkloadInfo (*info)();
  std::shared_ptr<const Workload> (*make)(const Parameters& parameters, std::uint64_t seed);
};

extern const CatalogEntry kFir, kKm, kMm, kMt, kPr, kSt;

}  // namespace nearfar
