// `dir-2x` to `dir-12x`: the coherence directory of the baseline with more entries, what others are held against.
#include <fmt/format.h>

#include <utility>

#include "designs/directory_design.h"
#include "designs/registry.h"

namespace nearfar {
namespace {

/// The directory itself is the baseline's.
class DirScaled final : public PlugIn {
 public:
  void describe(Section&) override {}
  std::vector<StatInfo> statistics() const override { return {}; }

  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    return {block_directory_storage(system)};
  }
};

}  // namespace

void register_dir_scaled(DesignRegistry& registry) {
  for (const unsigned times : {2, 3, 4, 5, 6, 8, 12}) {
    Design design = directory_design(fmt::format("dir-{}x", times),
                                     fmt::format("The coherence directory has {} times the entries.", times),
                                     "src/designs/dir_scaled/README.md");
    design.paper = "rec";
    design.settings = {fmt::format("directory.scale={}", times)};
    design.make = make_plug_in<DirScaled>;
    registry.add(std::move(design));
  }
}

}  // namespace nearfar
