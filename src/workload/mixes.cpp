#include "workload/mixes.h"

#include <map>

namespace nearfar {

std::span<const Mix> mixes() {
  static const std::vector<Mix> all{
      {"W1", {"FIR", "FFT", "AES", "SC"}, "LLLL"}, {"W2", {"FIR", "FFT", "MM", "KM"}, "LLMM"},
      {"W3", {"AES", "SC", "KM", "PR"}, "LLMM"},   {"W4", {"FFT", "SC", "KM", "MT"}, "LLMH"},
      {"W5", {"AES", "FIR", "PR", "ST"}, "LLMH"},  {"W6", {"FIR", "AES", "MT", "ST"}, "LLHH"},
      {"W7", {"FFT", "SC", "MT", "ST"}, "LLHH"},   {"W8", {"KM", "PR", "MM", "BS"}, "MMMM"},
      {"W9", {"MM", "KM", "MT", "ST"}, "MMHH"},    {"W10", {"MT", "MT", "ST", "ST"}, "HHHH"},
  };
  return all;
}

std::vector<ParameterSetting> settings_in_mix(std::string_view workload, SizeClass size) {
  static const std::map<std::string, std::vector<ParameterSetting>, std::less<>> settings{
      {"AES", {{"bytes", 8 << 20}}},
      {"BS", {{"n", 1 << 20}, {"first_stage", 19}}},
      {"FFT", {{"bytes", 64 << 20}, {"passes", 1}}},
      {"FIR", {{"n", 1 << 22}}},
      {"KM", {{"points", 65536}}},
      {"MM", {{"n", 1024}}},
      {"MT", {{"width", 2048}}},
      {"PR", {{"n", 1 << 20}, {"m", 1 << 23}, {"iterations", 1}}},
      {"SC", {{"width", 4094}, {"height", 4094}}},
      {"ST", {{"rows", 4098}, {"columns", 4098}, {"iterations", 1}}},
  };
  const auto found = settings.find(workload);
  return size == SizeClass::Small || found == settings.end() ? std::vector<ParameterSetting>{} : found->second;
}

}  // namespace nearfar
