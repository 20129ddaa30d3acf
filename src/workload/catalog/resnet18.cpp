// ResNet18: a step of training on images of 64×64 pixels in 200 classes (in the studies of REC).
// A convolution of 7×7, eight blocks of two convolutions of 3×3 with a path around them, and a fully connected layer;
// batch normalization after every convolution. Every GPU has all weights and images of its own.
#include "workload/dnn/training.h"

namespace nearfar {
namespace {

using namespace dnn;

constexpr std::uint64_t kPixels = 64, kColours = 3, kClasses = 200, kStem = 64;
constexpr std::uint32_t kStages = 4, kBlocks = 2;  // blocks of a stage

/// The channels double from stage to stage, and the planes' sides halve: the first block's path around is a
/// convolution too then.
Layers layers(std::uint64_t divisor) {
  Layers all;
  auto& convolutions = all.convolutions;
  std::uint64_t channels = kStem / divisor, side = kPixels / 4;
  convolutions.push_back(
      {.in = kColours, .out = channels, .side = kPixels, .kernel = 7, .stride = 2, .pad = 3, .normalized = true});
  for (std::uint32_t stage = 0; stage < kStages; ++stage) {
    const std::uint64_t out = (kStem << stage) / divisor;
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      const bool narrows = out != channels;
      Convolution first{.in = channels, .out = out, .side = side, .normalized = true};
      if (narrows) first.stride = 2;
      convolutions.push_back(first);
      convolutions.push_back({.in = out, .out = out, .side = first.result_side(), .normalized = true});
      if (narrows) {
        convolutions.push_back(
            {.in = channels, .out = out, .side = side, .kernel = 1, .stride = 2, .pad = 0, .normalized = true});
      }
      channels = out;
      side = first.result_side();
    }
  }
  all.dense = {{channels, kClasses}};
  all.parts = 2 + kStages * kBlocks;
  return all;
}

class ResNet18 final : public Training {
 public:
  ResNet18(const Parameters& parameters, std::uint64_t seed)
      : Training(parameters, seed, layers(parameters["divisor"])) {
    begin_part(0);
    Activation x = largest(rectify(filter(images(kColours, kPixels))), 3, 2, 1);
    for (std::uint32_t stage = 0; stage < kStages; ++stage) {
      for (std::uint32_t block = 0; block < kBlocks; ++block) {
        begin_part(1 + stage * kBlocks + block);
        x = residual(x, stage > 0 && block == 0);
      }
    }
    begin_part(1 + kStages * kBlocks);
    train(connect(0, average(x)));
  }

 private:
  /// The next convolution with its normalization.
  Activation filter(const Activation& x) {
    const std::size_t number = next_++;
    return normalize(number, convolve(number, x));
  }

  Activation residual(const Activation& x, bool narrows) {
    const auto [through, around] = fork(x);
    const Activation inner = filter(rectify(filter(through)));
    return rectify(sum(inner, narrows ? filter(around) : around));
  }

  std::size_t next_ = 0;
};

WorkloadInfo info() {
  return {.name = "ResNet18",
          .title = "training of ResNet18",
          .suite = "REC",
          .sentence =
              "A step of data-parallel training with batch normalization and paths around blocks; small "
              "products, then gradients from GPU to GPU around a ring.",
          .parameters = training_parameters({16, 4, 1}, {1, 4, 32}, {2, 4, 4}, {15, 15, 15}, {0, 0, 0}, {0, 0, 0})};
}

}  // namespace

constinit const CatalogEntry kResNet18{info, construct<ResNet18>};

}  // namespace nearfar
