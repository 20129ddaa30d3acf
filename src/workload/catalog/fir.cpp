// FIR: finite impulse response filter (Hetero-Mark).
// Every item reads the samples just before its own: neighbouring wavefronts overlap in a line, the GPUs only in the
// page at the border between them.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 256;

class Fir final : public Workload {
 public:
  explicit Fir(const Parameters& parameters)
      : taps_(parameters.u32("taps")),
        input_(allocate("input", 4 * parameters["n"], Placement::Distribute)),
        output_(allocate("output", 4 * parameters["n"], Placement::Distribute)),
        coeff_(allocate("coeff", 4 * parameters["taps"], Placement::Private)),
        history_(allocate("history", 4 * parameters["taps"], Placement::Distribute)) {
    const bool copies = parameters["copies"] != 0;
    for (const VirtAddr in : {input_, coeff_, history_}) {
      if (copies) add_copy_in(in);
    }
    add_launch({.kernel = "fir",
                .groups_x = parameters.u32("n") / kGroup,
                .size_x = kGroup,
                .split = Split::Offset,
                .split_dim = Dim::X});
    if (copies) add_copy_out(output_);
  }

  Stream wavefront(std::size_t, const Wave& wave) const override { return fir(wave.item(0)); }

 private:
  Stream fir(std::uint64_t first) const {
    std::uint64_t tap = 0;
    const auto sample = load(4, [&] { return Row{input_ + 4 * (first - tap)}; });
    const auto early_sample = load(4, [&](unsigned lane) {
      const std::uint64_t t = first + lane;
      return t >= tap ? input_ + 4 * (t - tap) : history_ + 4 * (taps_ - (tap - t));
    });
    const auto result = store(4, [&] { return Row{output_ + 4 * first}; });

    co_yield salu(9);
    co_yield valu(18);
    for (; tap < taps_; ++tap) {
      co_yield valu(14);
      if (first >= tap) {
        co_yield sample;
      } else {
        co_yield early_sample;
      }
      co_yield scalar_load(4, coeff_ + 4 * tap);
      co_yield wait(0);
      co_yield valu(1);
      co_yield salu(5);
    }
    co_yield valu(5);
    co_yield result;
    co_yield salu(1);
  }

  std::uint32_t taps_;
  VirtAddr input_, output_, coeff_, history_;
};

WorkloadInfo info() {
  return {.name = "FIR",
          .title = "finite impulse response filter",
          .suite = "Hetero-Mark",
          .sentence = "Adjacent: a sliding window over one array; GPUs share only the pages at their borders.",
          .parameters = {{.name = "n",
                          .sentence = "samples",
                          .small = 1 << 19,
                          .medium = 1 << 22,
                          .paper = 1 << 24,
                          .minimum = kGroup,
                          .maximum = 1 << 30,
                          .step = kGroup},
                         {.name = "taps",
                          .sentence = "taps of the filter",
                          .small = 16,
                          .medium = 16,
                          .paper = 16,
                          .minimum = 1,
                          .maximum = 1024},
                         {.name = "copies",
                          .sentence = "1: the host copies the input to the GPUs before the kernel and the output back "
                                      "after it; 0: both are where they are used",
                          .small = 0,
                          .medium = 0,
                          .paper = 0,
                          .minimum = 0,
                          .maximum = 1}}};
}

std::shared_ptr<const Workload> make(const Parameters& parameters, std::uint64_t) {
  return std::make_shared<Fir>(parameters);
}

}  // namespace

constinit const CatalogEntry kFir{info, make};

}  // namespace nearfar
