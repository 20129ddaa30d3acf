// AllReduce: every rank has a buffer, and in the end all have the sum of all buffers.
// By one of the algorithms of communication libraries: around a ring, up and down a binary tree, in one shot (every
// rank stores all that it has into all others, or loads it from all others), or in two (every rank adds up a piece, and
// stores the sum into all others). With a switch that multicasts and reduces, a rank loads the sum of its piece, or of
// all, from the switch, and stores the sum of its piece to all by one store.
#include "workload/dnn/collective.h"

namespace nearfar {
namespace {

using namespace dnn;

enum Algorithm : std::uint64_t {
  kRing,
  kTree,
  kOneShot,
  kTwoShot,
  kOneShotByLoads,
  kTwoShotInSwitch,
  kOneShotInSwitch
};

class AllReduce final : public Collective {
 public:
  explicit AllReduce(const Parameters& parameters)
      : Collective(parameters, 2), algorithm_(parameters["algorithm"]), chunks_(parameters["chunks"]) {
    data_ = room("data");
    if (algorithm_ != kTwoShotInSwitch) received_ = received();
    if (in_switch()) all_ = multicast("all", data_, bytes_);
    repeat([&] { reduce(); });
  }

 private:
  bool in_switch() const { return algorithm_ == kTwoShotInSwitch || algorithm_ == kOneShotInSwitch; }

  Tensor received() {
    switch (algorithm_) {
      case kTree: return room("received", 2);
      case kOneShot: return room("received", ranks() - 1);
      case kTwoShot: return on_each("received", (ranks() - 1) * pieces().longest() * by_.word);
      default: return room("received");
    }
  }

  void reduce() {
    switch (algorithm_) {
      case kRing: ring(data_, received_, pieces(), false, by_); break;
      case kTree: tree(data_, received_, {words(), chunks_}, by_); break;
      case kOneShot: one_shot(data_, received_, words(), by_); break;
      case kTwoShot:
        direct_reduce(data_, received_, pieces(), false, by_);
        direct_gather(data_, pieces(), by_);
        break;
      case kTwoShotInSwitch: add("through", Through{.from = all_, .to = all_, .pieces = pieces(), .by = by_}); break;
      case kOneShotInSwitch:
        add("through", Through{.from = all_, .to = received_, .pieces = pieces(), .whole = true, .by = by_});
        break;
      default: add("pull", Pull{.from = data_, .to = received_, .pieces = pieces(), .by = by_});
    }
  }

  std::uint64_t algorithm_, chunks_;
  Tensor data_, received_, all_;
};

WorkloadInfo info() {
  auto parameters = collective_parameters({1 << 20, 16 << 20, 64 << 20});
  parameters.push_back(constant(
      "algorithm",
      "how the buffers are added up: 0 ring, 1 tree, 2 one shot by stores, 3 two shots, 4 one "
      "shot by loads, with the result in a buffer of its own; with design nvls also 5 two shots in the switch, "
      "6 one shot in the switch, with the result in a buffer of its own",
      0, 0, 6));
  parameters.push_back(
      constant("chunks", "chunks of the buffer that are under way in a tree, each on another level", 4, 1, 1024));
  return {.name = "AllReduce",
          .title = "sum of the buffers of all ranks on every rank",
          .suite = "collectives",
          .sentence = "Whole lines to other GPUs: to the next one, to parent and children, or to all.",
          .parameters = std::move(parameters)};
}

}  // namespace

constinit const CatalogEntry kAllReduce{info, construct<AllReduce>};

}  // namespace nearfar
