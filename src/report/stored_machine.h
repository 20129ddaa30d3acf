// The machine that a result was measured on, as the result itself tells it.
#pragma once

#include <string>
#include <vector>

namespace nearfar {

struct MachineValue {
  std::string path, value, origin;
};

/// Every parameter of the machine in a complete result (`nearfar run --json`), in its order. Empty when the text is no
/// such result.
std::vector<MachineValue> stored_machine(const std::string& result_json);

/// Those of `values` that differ from `base`.
std::vector<MachineValue> differences(const std::vector<MachineValue>& base, const std::vector<MachineValue>& values);

}  // namespace nearfar
