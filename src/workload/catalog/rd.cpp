// RD: reduction, the sum of an array (AMD APP SDK; in the studies of UMH).
// Streaming: an item loads two neighbouring vectors, a workgroup adds up in local memory and stores one vector.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 256;
constexpr std::uint64_t kVector = 16;

class Reduction final : public Workload {
 public:
  explicit Reduction(const Parameters& parameters)
      : input_(allocate("input", 4 * parameters["n"], Placement::Interleave, kOnlyRead)),
        output_(allocate("output", kVector * (parameters["n"] / 8 / kGroup), Placement::Interleave, kOverwritten)) {
    const bool host = parameters["host"] != 0;
    if (host) add_host_preparation();
    add_launch(linear_launch("reduce", parameters["n"] / 8, kGroup, Split::RoundRobin, kVector * kGroup));
    if (host) add_host_read(output_);
  }

  Stream wavefront(std::size_t, const Wave& wave) const override {
    return reduce(wave.item(0), wave.group_x, wave.local(0) == 0);
  }

 private:
  Stream reduce(std::uint64_t first, std::uint64_t group, bool leads) const {
    std::uint64_t second = 0;
    const auto pair =
        load(kVector, [&] { return rows_of(kMaxLanes, input_ + kVector * (2 * first + second), 0, 2 * kVector); });
    const auto sum = store(kVector, [&] { return Row{output_ + kVector * group, 1}; });

    co_yield salu(10);
    co_yield pair;
    second = 1;
    co_yield pair;
    co_yield wait(0);
    co_yield valu(4);
    co_yield local(1);
    co_yield barrier();
    for (std::uint32_t half = kGroup / 2; half > 0; half /= 2) {
      co_yield local(3);
      co_yield valu(4);
      co_yield barrier();
    }
    if (leads) co_yield sum;
    co_yield salu(1);
  }

  VirtAddr input_, output_;
};

WorkloadInfo info() {
  return {.name = "RD",
          .title = "reduction",
          .suite = "AMD APP SDK",
          .sentence = "Streaming: every line by two loads, one short store a workgroup.",
          .parameters = {sized("n", "elements to add up", {1 << 18, 1 << 26, 1 << 21}, 2048, 1 << 30, 2048),
                         host_parameter()}};
}

}  // namespace

constinit const CatalogEntry kRd{info, construct<Reduction>};

}  // namespace nearfar
