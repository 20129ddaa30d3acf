// The inputs of the study of REC (range-based directory entries): its twelve programs at the footprints of its table.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "workload/catalog.h"
#include "workload/expected.h"

namespace nearfar {

struct RecInput {
  std::string_view workload;
  std::uint64_t published_mib;             ///< footprint in the study's table
  std::vector<ParameterSetting> settings;  ///< what makes the input; the other parameters are those of `paper`
  Expected size;
};

/// Sorted by name.
std::span<const RecInput> rec_inputs();

/// Null where the study does not run the workload.
const RecInput* find_rec_input(std::string_view workload);

}  // namespace nearfar
