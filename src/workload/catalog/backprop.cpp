// BackProp: training step of a neural network with one hidden layer of 16 (Rodinia; in the studies of Neighborhood).
// Streams through the weights once forward and once to adjust them. Rows of 16 lie at a pitch of 17, unaligned; GPUs
// share the small vector of deltas only.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kHidden = 16;
constexpr std::uint32_t kPitch = kHidden + 1;

class BackPropagation final : public Workload {
 public:
  explicit BackPropagation(const Parameters& parameters)
      : input_(allocate("input", 4 * (parameters["n"] + 1), Placement::Interleave)),
        weights_(allocate("weights", 4 * (parameters["n"] + 1) * kPitch, Placement::Interleave)),
        old_weights_(allocate("old_weights", 4 * (parameters["n"] + 1) * kPitch, Placement::Interleave)),
        partial_(allocate("partial_sum", 4 * parameters["n"], Placement::Interleave)),
        delta_(allocate("delta", 4 * kPitch, Placement::Interleave)) {
    allocate("hidden", 4 * kPitch, Placement::Interleave);  // an argument that no kernel touches
    Launch launch{.kernel = "forward",
                  .groups_y = parameters.u32("n") / kHidden,
                  .size_x = kHidden,
                  .size_y = kHidden,
                  .local_bytes = sizeof(float) * kHidden * (kHidden + 1),
                  .split = Split::Blocks};
    add_launch(launch);
    launch.kernel = "adjust";
    launch.local_bytes = 0;
    add_launch(launch);
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const std::uint64_t first_row = std::uint64_t{kHidden} * wave.group_y + wave.local(0) / kHidden;
    return launch == 0 ? forward(first_row) : adjust(first_row);
  }

 private:
  /// Weights of the items, whose input is their row + 1 and whose hidden unit is their column + 1.
  static Rows weights(VirtAddr matrix, std::uint64_t first_row) {
    return rows_of(kHidden, matrix + 4 * (kPitch * (first_row + 1) + 1), 4 * kPitch, 4);
  }

  /// An element for the first item of each row.
  static Rows one_a_row(VirtAddr first) {
    Rows rows = rows_of(kHidden, first, 4, 0);
    rows.lanes = 1;
    return rows;
  }

  Stream forward(std::uint64_t first_row) const {
    const auto input = load(4, [&] { return one_a_row(input_ + 4 * (first_row + 1)); });
    const auto before = load(4, [&] { return weights(weights_, first_row); });
    const auto after = store(4, [&] { return weights(weights_, first_row); });
    const auto partial = store(4, [&] { return one_a_row(partial_ + 4 * first_row); });

    co_yield salu(14);
    co_yield valu(16);
    co_yield input;
    co_yield wait(0);
    co_yield local(1);
    co_yield barrier();
    co_yield before;
    co_yield wait(0);
    co_yield local(1);
    co_yield barrier();
    co_yield local(2);
    co_yield valu(1);
    co_yield local(1);
    co_yield barrier();
    for (std::uint32_t half = kHidden / 2; half > 0; half /= 2) {
      co_yield valu(5);
      co_yield local(3);
      co_yield salu(4);
      co_yield barrier();
    }
    co_yield local(1);
    co_yield valu(6);
    co_yield after;
    co_yield barrier();
    co_yield local(1);
    co_yield valu(5);
    co_yield partial;
    co_yield salu(1);
  }

  Stream adjust(std::uint64_t first_row) const {
    VirtAddr matrix = weights_;
    const auto delta = load(4, [&] { return rows_of(kHidden, delta_ + 4, 0, 4); });
    const auto input = load(4, [&] { return rows_of(kHidden, input_ + 4 * (first_row + 1), 4, 0); });
    const auto before = load(4, [&] { return weights(matrix, first_row); });
    const auto after = store(4, [&] { return weights(matrix, first_row); });

    co_yield salu(12);
    co_yield valu(22);
    co_yield delta;
    co_yield input;
    co_yield before;
    matrix = old_weights_;
    co_yield before;
    co_yield wait(1);
    co_yield valu(3);
    co_yield wait(0);
    co_yield valu(3);
    matrix = weights_;
    co_yield after;
    co_yield delta;
    co_yield input;
    matrix = old_weights_;
    co_yield before;
    co_yield wait(0);
    co_yield valu(8);
    co_yield after;
    co_yield salu(4);
  }

  VirtAddr input_, weights_, old_weights_, partial_, delta_;
};

WorkloadInfo info() {
  return {.name = "BackProp",
          .title = "back propagation",
          .suite = "Rodinia",
          .sentence = "Streaming: all weights once forward and once adjusted, in unaligned rows.",
          .parameters = {sized("n", "units of the input layer", {65536, 786432, 786432}, kHidden, 1 << 26, kHidden)}};
}

}  // namespace

constinit const CatalogEntry kBackProp{info, construct<BackPropagation>};

}  // namespace nearfar
