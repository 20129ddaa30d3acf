// The result of one run as `nearfar run --json` wrote it. It is believed only when it is complete and its own key is
// the one that was asked for.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nearfar {

struct ResultFile {
  std::string key, model, version;
  std::string workload, size, system, designs;
  std::uint64_t seed = 0;
  std::uint64_t cycles = 0, instructions = 0, accesses = 0;
  double host_seconds = 0;
  std::uint64_t peak_rss_bytes = 0;
  std::vector<std::pair<std::string, double>> statistics;  ///< sorted by name
  std::string json;
};

/// A text that is no complete result, and why.
class BadResult : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads a result; throws BadResult when it is cut off, corrupt, or one of another run.
ResultFile parse_result(std::string json, const std::string& expected_key);

/// The same for a file.
ResultFile read_result(const std::string& path, const std::string& expected_key);

}  // namespace nearfar
