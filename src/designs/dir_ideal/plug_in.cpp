// `dir-ideal`: a coherence directory without limit.
#include <memory>
#include <utility>

#include "coherence/directory_home.h"
#include "designs/dir_ideal/ideal_directory.h"
#include "designs/directory_design.h"
#include "designs/registry.h"

namespace nearfar {
namespace {

class DirIdeal final : public PlugIn {
 public:
  void describe(Section&) override {}

  std::unique_ptr<Directory> make_directory(const SystemSpec& system, DeviceId home) const override {
    return std::make_unique<IdealDirectory>(directory_home(home, system));
  }

  std::vector<StatInfo> statistics() const override { return {}; }

  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    return {directory_storage(system, 0, "without limit, so no hardware")};
  }
};

}  // namespace

void register_dir_ideal(DesignRegistry& registry) {
  Design design = directory_design("dir-ideal", "A coherence directory without limit: no entry is ever replaced.",
                                   "src/designs/dir_ideal/README.md");
  design.paper = "rec";
  design.make = make_plug_in<DirIdeal>;
  registry.add(std::move(design));
}

}  // namespace nearfar
