// VGG16: a step of training on images of 64×64 pixels in 200 classes (MGPUSim's network; in the studies of REC).
// Thirteen convolutions of 3×3 in five blocks, each block on planes of half the side, and three fully connected layers.
// Every GPU has all weights and images of its own; they meet where the gradients are added up.
#include "workload/dnn/training.h"

namespace nearfar {
namespace {

using namespace dnn;

constexpr std::uint64_t kPixels = 64, kColours = 3, kClasses = 200, kHidden = 4096;
/// Channels of the convolutions; a block ends where the planes are halved.
constexpr std::array<std::array<std::uint64_t, 3>, 5> kBlocks{
    {{64, 64, 0}, {128, 128, 0}, {256, 256, 256}, {512, 512, 512}, {512, 512, 512}}};

Layers layers(std::uint64_t divisor) {
  Layers all;
  std::uint64_t channels = kColours, side = kPixels;
  for (const auto& block : kBlocks) {
    for (const std::uint64_t out : block) {
      if (out == 0) continue;
      all.convolutions.push_back({.in = channels, .out = out / divisor, .side = side});
      channels = out / divisor;
    }
    side /= 2;
  }
  const std::uint64_t hidden = kHidden / divisor;
  all.dense = {{channels * side * side, hidden}, {hidden, hidden}, {hidden, kClasses}};
  all.parts = all.convolutions.size() + all.dense.size();
  return all;
}

class Vgg16 final : public Training {
 public:
  Vgg16(const Parameters& parameters, std::uint64_t seed) : Training(parameters, seed, layers(parameters["divisor"])) {
    Activation x = images(kColours, kPixels);
    std::size_t layer = 0;
    for (const auto& block : kBlocks) {
      for (const std::uint64_t out : block) {
        if (out == 0) continue;
        begin_part(layer);
        x = rectify(convolve(layer++, x));
      }
      x = largest(x, 2, 2, 0);
    }
    for (std::size_t dense = 0; dense < 3; ++dense) {
      begin_part(layer++);
      x = connect(dense, x);
      if (dense < 2) x = rectify(x);
    }
    train(x);
  }
};

WorkloadInfo info() {
  return {.name = "VGG16",
          .title = "training of VGG16",
          .suite = "MGPUSim",
          .sentence =
              "A step of data-parallel training: unrolled images times weights in tiles on every GPU for itself, "
              "then gradients from GPU to GPU around a ring.",
          .parameters = training_parameters({16, 8, 1}, {1, 2, 32}, {1, 4, 4}, {3, 15, 15}, {0, 0, 10}, {0, 0, 1})};
}

}  // namespace

constinit const CatalogEntry kVgg16{info, construct<Vgg16>};

}  // namespace nearfar
