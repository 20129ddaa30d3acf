// The workloads by name: what each is, its parameters with their values in each size, and how to make one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/workload.h"

namespace nearfar {

/// `Rec` is for the programs of one study only: its inputs (workload/rec_inputs.h).
enum class SizeClass : std::uint8_t { Small, Medium, Paper, Rec };

struct WorkloadParameter {
  std::string name;
  std::string sentence;
  std::uint64_t small = 0, medium = 0, paper = 0;  ///< value in each size
  std::uint64_t minimum = 1, maximum = ~std::uint64_t{0};
  std::uint64_t step = 1, offset = 0;  ///< only values offset + k·step are possible
  bool generates = false;              ///< of a graph that is generated; the user's own has none of it
};

struct ParameterSetting {
  std::string name;
  std::uint64_t value = 0;
};

struct WorkloadInfo {
  std::string name;      ///< "MT"
  std::string title;     ///< "matrix transpose"
  std::string suite;     ///< "AMD APP SDK"
  std::string sentence;  ///< access pattern in one sentence
  std::vector<WorkloadParameter> parameters;
  bool takes_graph = false;  ///< its graph may be the user's own file
};

/// All workloads, sorted by name.
std::span<const WorkloadInfo> catalog();

SizeClass parse_size(std::string_view text);
std::string_view size_name(SizeClass size);

/// The values of all parameters of a workload: those of the size, then `settings`. What could never be made is refused
/// here, without making it: unknown names, values out of range, an `input` for a workload that reads none.
std::vector<ParameterSetting> effective_parameters(std::string_view name, SizeClass size,
                                                   std::span<const ParameterSetting> settings,
                                                   const std::string& input = "");

/// Makes a workload; unknown names and impossible parameters are InputErrors that name the nearest right one. `input`
/// is the file of a graph to use instead of a generated one, or empty.
std::shared_ptr<const Workload> make_workload(std::string_view name, SizeClass size,
                                              std::span<const ParameterSetting> settings, std::uint64_t seed,
                                              const std::string& input = "");

}  // namespace nearfar
