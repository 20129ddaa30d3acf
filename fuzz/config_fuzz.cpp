// Fuzzing of what a person may write: a system's file, or overrides. The first byte chooses; the rest goes through the
// same code as a file or a --set, and only an InputError with a message may come out.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "config/error.h"
#include "machine/system_file.h"

namespace nearfar {
namespace {

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

void read(bool as_override, const std::string& text) {
  try {
    if (as_override) {
      load_system_text("gpus: 4\n", "fuzz", split_lines(text));
    } else {
      load_system_text(text, "fuzz", {});
    }
  } catch (const InputError& error) {
    if (*error.what() == '\0') std::abort();
  }
}

}  // namespace
}  // namespace nearfar

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // An odd first byte is an override: `1` and `0` in the corpus, where people read it.
  nearfar::read(data[0] % 2 == 1, std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}
