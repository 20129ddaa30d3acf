// The layers of docs/architecture.md: a source includes headers of its own folder and of those before it, never of
// those after it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace nearfar::layers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kLayers[] = {
    "sim",          "stats", "config",  "program",   "memory",   "interconnect", "coherence", "translation",
    "gpu",          "host",  "machine", "designs",   "workload", "plugin",       "trace",     "plot",
    "characterize", "study", "report",  "calibrate", "explore",  "cli"};

/// Specifications are plain data that the configuration fills: they belong to it wherever they lie.
std::string_view layer_of(std::string_view path) {
  if (path.ends_with("_spec.h") || path.ends_with("_spec.cpp")) return "config";
  return path.substr(0, path.find('/'));
}

std::optional<std::ptrdiff_t> rank_of(std::string_view path) {
  const auto found = std::ranges::find(kLayers, layer_of(path));
  if (found == std::end(kLayers)) return std::nullopt;
  return found - std::begin(kLayers);
}

/// The project's own headers that a source includes.
std::vector<std::string> includes_of(std::istream& source) {
  std::vector<std::string> found;
  constexpr std::string_view kStart = "#include \"";
  for (std::string line; std::getline(source, line);) {
    if (!line.starts_with(kStart)) continue;
    const std::string header = line.substr(kStart.size(), line.find('"', kStart.size()) - kStart.size());
    if (header.find('/') != std::string::npos) found.push_back(header);  // the others are made by the build
  }
  return found;
}

/// What is wrong with the includes of the source at `path`, a sentence each.
std::vector<std::string> complaints(const std::string& path, std::istream& source) {
  std::vector<std::string> found;
  const auto own = rank_of(path);
  if (!own) return {path + " lies in a folder that is no layer"};
  for (const std::string& header : includes_of(source)) {
    const auto other = rank_of(header);
    if (!other) {
      found.push_back(path + " includes " + header + ", which lies in a folder that is no layer");
    } else if (*other > *own) {
      found.push_back(path + " includes " + header + ", of a later layer");
    }
  }
  return found;
}

std::vector<std::string> complaints(const std::string& path, const std::string& text) {
  std::istringstream source(text);
  return complaints(path, source);
}

TEST(Layers, EachUsesOnlyThoseBeforeIt) {
  const std::filesystem::path root = std::filesystem::path(NEARFAR_SOURCE_DIR) / "src";
  std::size_t sources = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".h" && extension != ".cpp") continue;
    ++sources;
    std::ifstream source(entry.path());
    EXPECT_THAT(complaints(entry.path().lexically_relative(root).generic_string(), source), IsEmpty());
  }
  EXPECT_GT(sources, 200u);
}

TEST(Layers, ALaterLayerIsSeen) {
  EXPECT_THAT(complaints("gpu/gpu.h", "#include <vector>\n#include \"sim/types.h\"\n#include \"host/host.h\"\n"),
              ElementsAre("gpu/gpu.h includes host/host.h, of a later layer"));
  EXPECT_THAT(complaints("study/derive.h", "#include \"report/claim.h\"\n"), ElementsAre(HasSubstr("a later layer")));
}

TEST(Layers, ASpecificationBelongsToTheConfiguration) {
  EXPECT_THAT(complaints("memory/dram/dram.h", "#include \"gpu/gpu_spec.h\"\n"), IsEmpty());
  EXPECT_THAT(complaints("gpu/gpu_spec.h", "#include \"gpu/wavefront.h\"\n"), ElementsAre(HasSubstr("a later layer")));
}

TEST(Layers, AFolderMustBeALayer) {
  EXPECT_THAT(complaints("misc/a.h", ""), ElementsAre("misc/a.h lies in a folder that is no layer"));
  EXPECT_THAT(complaints("cli/a.h", "#include \"misc/a.h\"\n"), ElementsAre(HasSubstr("no layer")));
}

}  // namespace
}  // namespace nearfar::layers_test
