// Training of VGG16 and ResNet18: counts against closed forms, and the streams' addresses run on numbers.
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "config/error.h"
#include "workload/census.h"
#include "workload/dnn/training.h"

namespace nearfar::training_test {
namespace {

using namespace nearfar::testing;
using Settings = std::vector<ParameterSetting>;

constexpr std::uint64_t kForward = 1, kBackward = 2, kExchange = 4, kUpdate = 8;

std::uint64_t lines_of(const Workload& workload, std::size_t l) {
  Counter counter(workload);
  for (std::uint64_t group = 0; group < workload.launches()[l].groups(); ++group) counter.group(l, group);
  return counter.census().lines.total;
}

std::vector<std::size_t> launches_of(const Workload& workload, std::string_view kernel) {
  std::vector<std::size_t> found;
  for (std::size_t l = 0; l < workload.launches().size(); ++l) {
    if (workload.launches()[l].kernel == kernel) found.push_back(l);
  }
  return found;
}

/// Elements of a launch with one each item on one rank: all workgroups but the last are full.
std::uint64_t elements_of(const Workload& workload, std::size_t l) {
  const std::uint64_t groups = workload.launches()[l].groups();
  const Items last = touches(workload, l, groups - 1);
  return (groups - 1) * 64 +
         static_cast<std::uint64_t>(std::ranges::count_if(last, [](const auto& item) { return !item.empty(); }));
}

std::uint64_t parameters_of(const char* network, std::uint64_t divisor) {
  const auto training = make(network, {{"divisor", divisor}, {"ranks", 1}, {"phases", kUpdate}});
  std::uint64_t parameters = 0;
  for (std::size_t l = 0; l < training->launches().size(); ++l) parameters += elements_of(*training, l);
  return parameters;
}

TEST(Training, NetworksHaveTheirWeights) {
  EXPECT_EQ(parameters_of("VGG16", 1), 40'708'104U);
  EXPECT_EQ(parameters_of("VGG16", 4), 2'700'696U);
  EXPECT_EQ(parameters_of("VGG16", 8), 727'408U);
  EXPECT_EQ(parameters_of("VGG16", 16), 208'044U);
  EXPECT_EQ(parameters_of("ResNet18", 1), 11'279'112U);
  EXPECT_EQ(parameters_of("ResNet18", 4), 727'896U);
  EXPECT_EQ(parameters_of("ResNet18", 8), 189'712U);
  EXPECT_EQ(parameters_of("ResNet18", 16), 51'372U);
}

/// Lines of a forward pass's products if all tiles were whole: a tile of 16 of the inner dimension has two barriers and
/// 32 lines a workgroup, and 48 come before and after.
double lines_of_whole_tiles(const char* network, std::uint64_t divisor) {
  const auto training = make(network, {{"divisor", divisor}, {"batch", 1}, {"ranks", 1}, {"phases", kForward}});
  std::uint64_t lines = 0;
  for (const std::size_t l : launches_of(*training, "gemm")) {
    lines += training->launches()[l].groups() * (16 * take_wave(*training, l).barriers + 48);
  }
  return static_cast<double>(lines) * 1e-6;
}

TEST(Training, ProductsOfAForwardPassAreAsLargeAsPublished) {
  EXPECT_NEAR(lines_of_whole_tiles("VGG16", 1), 13.28, 0.005);
  EXPECT_NEAR(lines_of_whole_tiles("VGG16", 4), 0.906, 0.0005);
  EXPECT_NEAR(lines_of_whole_tiles("VGG16", 8), 0.296, 0.0005);
  EXPECT_NEAR(lines_of_whole_tiles("VGG16", 16), 0.140, 0.0005);
  EXPECT_NEAR(lines_of_whole_tiles("ResNet18", 1), 2.01, 0.005);
  EXPECT_NEAR(lines_of_whole_tiles("ResNet18", 4), 0.152, 0.0005);
  EXPECT_NEAR(lines_of_whole_tiles("ResNet18", 8), 0.066, 0.0005);
  EXPECT_NEAR(lines_of_whole_tiles("ResNet18", 16), 0.043, 0.0005);
}

/// A matrix of floats in rows that begins with a line: the lines that wavefronts of 4 rows of 16 items touch in it when
/// workgroups of 16×16 cover it.
std::uint64_t lines_of_tiles(std::uint64_t rows, std::uint64_t columns) {
  std::uint64_t lines = 0;
  for (std::uint64_t row = 0; row < rows; row += 4) {
    for (std::uint64_t column = 0; column < columns; column += 16) {
      std::set<std::uint64_t> touched;
      for (std::uint64_t r = row; r < std::min(row + 4, rows); ++r) {
        for (std::uint64_t c = column; c < std::min(column + 16, columns); ++c) touched.insert((r * columns + c) / 16);
      }
      lines += touched.size();
    }
  }
  return lines;
}

std::uint64_t lines_of_product(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  const auto tiles = [](std::uint64_t length) { return (length + 15) / 16; };
  return tiles(n) * lines_of_tiles(m, k) + tiles(m) * lines_of_tiles(k, n) + 3 * lines_of_tiles(m, n);
}

TEST(Training, ProductsTouchTheLinesOfTheirTiles) {
  // The last convolution of VGG16: 32 channels, planes of 4×4, two images; forward, weights, input.
  const auto training =
      make("VGG16", {{"batch", 2}, {"phases", kForward | kBackward}, {"first_part", 12}, {"parts", 1}});
  const auto products = launches_of(*training, "gemm");
  ASSERT_EQ(products.size(), 3U);
  EXPECT_EQ(lines_of(*training, products[0]), lines_of_product(32, 32, 288));
  EXPECT_EQ(lines_of(*training, products[0]), 2U * 2 * (32 * 18 + 48)) << "all sides are multiples of 16";
  EXPECT_EQ(lines_of(*training, products[1]), lines_of_product(32, 288, 32));
  EXPECT_EQ(lines_of(*training, products[2]), lines_of_product(32, 32, 288));
  // A fully connected layer: (out, images, in), (out, in, images), (in, images, out).
  const auto dense = make("VGG16", {{"batch", 3}, {"phases", kForward | kBackward}, {"first_part", 15}, {"parts", 1}});
  const auto of_dense = launches_of(*dense, "gemm");
  ASSERT_EQ(of_dense.size(), 3U);
  EXPECT_EQ(lines_of(*dense, of_dense[0]), lines_of_product(200, 3, 256));
  EXPECT_EQ(lines_of(*dense, of_dense[1]), lines_of_product(200, 256, 3));
  EXPECT_EQ(lines_of(*dense, of_dense[2]), lines_of_product(256, 3, 200));
}

TEST(Training, LargerTilesLoadLess) {
  const auto loads = [](std::uint64_t tile) {
    const auto training =
        make("VGG16",
             {{"divisor", 4}, {"batch", 4}, {"phases", kForward}, {"first_part", 12}, {"parts", 1}, {"tile", tile}});
    return lines_of(*training, launches_of(*training, "gemm").at(0)) - 3U * 128 * 64 / 16;
  };
  const std::uint64_t products = std::uint64_t{128} * 64 * 1152;
  EXPECT_EQ(loads(16), products / 128);
  EXPECT_EQ(loads(32), products / 256);
  EXPECT_EQ(loads(64), products / 512);
}

TEST(Training, LayersHaveTheirKernels) {
  const auto kernels = [](const char* network, std::uint64_t phase, std::uint64_t part) {
    const auto training = make(network, {{"ranks", 2}, {"phases", phase}, {"first_part", part}, {"parts", 1}});
    std::string all;
    for (const Launch& launch : training->launches()) all += launch.kernel + " ";
    return all;
  };
  EXPECT_EQ(kernels("VGG16", kForward, 1), "im2col repeat transpose gemm transpose relu max_pool ");
  EXPECT_EQ(kernels("VGG16", kBackward, 0), "relu_back transpose transpose im2col gemm sum ") << "images have none";
  EXPECT_EQ(kernels("VGG16", kBackward, 1),
            "max_pool_back relu_back transpose transpose im2col gemm sum im2col rotate transpose gemm transpose ");
  EXPECT_EQ(kernels("VGG16", kForward, 13), "transpose repeat gemm relu ");
  EXPECT_EQ(kernels("VGG16", kForward, 15), "repeat gemm softmax ");
  EXPECT_EQ(kernels("VGG16", kBackward, 15), "cross_entropy_back transpose gemm sum transpose gemm ");
  EXPECT_EQ(kernels("VGG16", kExchange, 3), "push reduce push ");
  EXPECT_EQ(kernels("VGG16", kUpdate, 3), "adam ");
  const std::string filter = "im2col gemm transpose moments normalize ";
  EXPECT_EQ(kernels("ResNet18", kForward, 0), filter + "relu max_pool ");
  EXPECT_EQ(kernels("ResNet18", kForward, 1), filter + "relu " + filter + "add relu ");
  EXPECT_EQ(kernels("ResNet18", kForward, 3), filter + "relu " + filter + filter + "add relu ");
  EXPECT_EQ(kernels("ResNet18", kForward, 9), "average transpose repeat gemm softmax ");
  const std::string weights = "moments_back normalize_back transpose transpose im2col gemm ";
  const std::string back = weights + "im2col rotate transpose gemm transpose ";
  const std::string dilated_back = weights + "dilate im2col rotate transpose gemm transpose ";
  EXPECT_EQ(kernels("ResNet18", kBackward, 3),
            "relu_back " + dilated_back + back + "relu_back " + dilated_back + "add ");
  EXPECT_EQ(kernels("ResNet18", kExchange, 3), "push reduce push push reduce push push reduce push ");
}

TEST(Training, StepsRepeat) {
  const Settings window{{"ranks", 2}, {"first_part", 14}, {"parts", 2}};
  Settings twice = window;
  twice.push_back({"steps", 2});
  const auto one = make("VGG16", window), two = make("VGG16", twice);
  const std::size_t launches = one->launches().size();
  ASSERT_EQ(two->launches().size(), 2 * launches);
  for (std::size_t l = 0; l < launches; ++l) {
    EXPECT_EQ(two->launches()[launches + l].kernel, one->launches()[l].kernel);
    EXPECT_EQ(touches(*two, launches + l, 0), touches(*one, l, 0));
  }
}

TEST(Training, UpdatesTouchSevenArrays) {
  const auto training = make("VGG16", {{"ranks", 1}, {"phases", kUpdate}, {"first_part", 12}, {"parts", 1}});
  ASSERT_EQ(training->launches().size(), 1U);
  EXPECT_EQ(lines_of(*training, 0), 7U * (32 * 32 * 9 + 32) / 16);
}

TEST(Training, NormalizationLoadsTwiceAndStoresOnce) {
  const auto training = make(
      "ResNet18", {{"divisor", 4}, {"batch", 4}, {"ranks", 1}, {"phases", kForward}, {"first_part", 1}, {"parts", 1}});
  const std::uint64_t elements = 4 * 16 * 16 * 16;  // images, channels, planes of 16×16
  const auto moments = launches_of(*training, "moments"), normalize = launches_of(*training, "normalize");
  ASSERT_EQ(moments.size(), 2U);
  EXPECT_EQ(lines_of(*training, moments[0]), elements / 16 + 2 * 16) << "mean and deviation of 16 channels";
  EXPECT_EQ(lines_of(*training, normalize[0]), 2 * elements / 16 + 4 * elements / 64) << "four values of a channel";
}

TEST(Training, RanksHaveTheirOwnPages) {
  const auto training = make("ResNet18", {{"ranks", 4}, {"phases", kForward | kBackward | kUpdate}});
  const Census census = take_census(*training, 4);
  EXPECT_EQ(percent_by(*training, census, 1), 100);
  const auto shared = make("ResNet18", {{"ranks", 4}, {"phases", kForward}, {"shared", 1}});
  const Buffer& weights = buffer(*shared, "weights");
  EXPECT_EQ(weights.placement, Placement::Interleave);
  EXPECT_EQ(pages_by(take_census(*shared, 4), weights, 4), pages_of(weights)) << "read by everybody";
  for (const char* array : {"weights", "gradients", "m", "v"}) {
    const std::uint64_t each = buffer(*training, array).bytes / 4;
    EXPECT_GE(each, 4 * std::uint64_t{51'372}) << array;
    EXPECT_LE(each, 4 * std::uint64_t{51'372} + 22 * 64 + kPageBytes) << "a line a layer and a page";
  }
}

/// Memory of a workload as numbers, an element of 4 bytes each.
class Memory {
 public:
  explicit Memory(const Workload& workload) {
    const Buffer& last = workload.buffers().back();
    values_.resize((last.base.value + last.bytes - kFirstBuffer.value) / 4);
  }
  double& operator[](VirtAddr at) { return values_.at((at.value - kFirstBuffer.value) / 4); }
  void fill() {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<double>(i * 7919 % 101) - 50;
  }

 private:
  std::vector<double> values_;
};

/// Every store is the sum of the loads since the last one: copies, and sums of what was received.
void run_sums(const Workload& workload, std::size_t l, Memory& memory) {
  for (std::uint64_t group = 0; group < workload.launches()[l].groups(); ++group) {
    for (const auto& item : touches(workload, l, group)) {
      double sum = 0;
      for (const Touch& touch : item) {
        if (touch.how == '+') {
          sum += memory[touch.at];
        } else {
          memory[touch.at] = std::exchange(sum, 0);
        }
      }
    }
  }
}

class Exchanges : public ::testing::TestWithParam<std::tuple<std::uint64_t, std::uint64_t>> {};

TEST_P(Exchanges, AddUpTheGradientsOfAllRanks) {
  const auto [ranks, how] = GetParam();
  const auto training =
      make("ResNet18", {{"ranks", ranks}, {"exchange", how}, {"phases", kExchange}, {"first_part", 0}, {"parts", 1}});
  const Buffer& gradients = buffer(*training, "gradients");
  const std::uint64_t apart = gradients.bytes / ranks, length = 3 * 4 * 49 + 2 * 4;
  Memory memory(*training);
  memory.fill();
  std::vector<double> expected(length);
  for (std::uint64_t i = 0; i < length; ++i) {
    for (std::uint64_t rank = 0; rank < ranks; ++rank) expected[i] += memory[gradients.base + rank * apart + 4 * i];
  }
  for (std::size_t l = 0; l < training->launches().size(); ++l) run_sums(*training, l, memory);
  const Buffer& result = how == 2 ? buffer(*training, "received") : gradients;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    for (std::uint64_t i = 0; i < length; ++i) {
      ASSERT_EQ(memory[result.base + rank * (result.bytes / ranks) + 4 * i], expected[i]) << rank << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Exchanges, ::testing::Combine(::testing::Values(2, 3, 4), ::testing::Values(0, 1, 2)),
                         [](const auto& which) {
                           return "ranks" + std::to_string(std::get<0>(which.param)) + "way" +
                                  std::to_string(std::get<1>(which.param));
                         });

/// Bytes that each rank stores where another's array is.
std::uint64_t bytes_sent(const Workload& workload, std::uint64_t ranks) {
  std::uint64_t bytes = 0;
  for (std::size_t l = 0; l < workload.launches().size(); ++l) {
    const std::uint64_t each = workload.launches()[l].groups() / ranks;
    for (std::uint64_t group = 0; group < workload.launches()[l].groups(); ++group) {
      for (const auto& item : touches(workload, l, group)) {
        for (const Touch& touch : item) {
          if (touch.how == '+') continue;
          const auto in = std::ranges::find_if(
              workload.buffers(), [&](const Buffer& b) { return touch.at >= b.base && touch.at < b.base + b.bytes; });
          if ((touch.at.value - in->base.value) / (in->bytes / ranks) != group / each) bytes += 4;
        }
      }
    }
  }
  return bytes;
}

TEST(Training, TheRingSendsSixBytesAWeight) {
  const std::uint64_t parameters = 208'044;
  const auto ring = make("VGG16", {{"ranks", 4}, {"phases", kExchange}});
  EXPECT_EQ(ring->launches().size(), 16U * 9);
  EXPECT_EQ(bytes_sent(*ring, 4), 4 * 6 * parameters);
  const auto all_to_all = make("VGG16", {{"ranks", 4}, {"phases", kExchange}, {"exchange", 1}});
  EXPECT_EQ(bytes_sent(*all_to_all, 4), 4 * 6 * parameters);
  const auto pull = make("VGG16", {{"ranks", 4}, {"phases", kExchange}, {"exchange", 2}});
  EXPECT_EQ(bytes_sent(*pull, 4), 0U);
}

TEST(Training, TheRingStoresWholeLines) {
  const std::uint64_t parameters = 64 * 64 * 9 + 64;  // a quarter of it is whole lines
  const auto ring =
      make("VGG16", {{"divisor", 1}, {"ranks", 4}, {"phases", kExchange}, {"first_part", 1}, {"parts", 1}});
  std::uint64_t lines = 0;
  for (std::size_t l = 0; l < ring->launches().size(); ++l) lines += lines_of(*ring, l);
  EXPECT_EQ(lines, 4 * 21 * parameters / 64);
}

/// Runs a product of whole tiles: what the items of a workgroup load in turn are the tiles of both matrices.
void run_product(const Workload& workload, std::size_t l, Memory& memory) {
  for (std::uint64_t group = 0; group < workload.launches()[l].groups(); ++group) {
    const Items items = touches(workload, l, group);
    const std::size_t tiles = (items[0].size() - 3) / 2;
    for (std::size_t row = 0; row < 16; ++row) {
      for (std::size_t column = 0; column < 16; ++column) {
        double sum = 0;
        for (std::size_t k = 0; k < 16 * tiles; ++k) {
          const Touch& left = items[16 * row + k % 16].at(1 + k / 16 * 2);
          const Touch& right = items[16 * (k % 16) + column].at(2 + k / 16 * 2);
          sum += memory[left.at] * memory[right.at];
        }
        memory[items[16 * row + column].back().at] = sum;
      }
    }
  }
}

struct Shape {
  std::uint64_t in, out, side, kernel, stride, pad, result;
};
constexpr std::uint64_t kImages = 2;

/// Calls f(input element, weight, result) for all that belong together.
template <class F>
void for_each_product(const Shape& s, F f) {
  for (std::uint64_t b = 0; b < kImages; ++b) {
    for (std::uint64_t o = 0; o < s.out; ++o) {
      for (std::uint64_t y = 0; y < s.result; ++y) {
        for (std::uint64_t x = 0; x < s.result; ++x) {
          for (std::uint64_t i = 0; i < s.in; ++i) {
            for (std::uint64_t ky = 0; ky < s.kernel; ++ky) {
              for (std::uint64_t kx = 0; kx < s.kernel; ++kx) {
                const std::uint64_t iy = y * s.stride + ky - s.pad, ix = x * s.stride + kx - s.pad;
                if (iy >= s.side || ix >= s.side) continue;
                f(((b * s.in + i) * s.side + iy) * s.side + ix, ((o * s.in + i) * s.kernel + ky) * s.kernel + kx,
                  ((b * s.out + o) * s.result + y) * s.result + x);
              }
            }
          }
        }
      }
    }
  }
}

/// The lowest address that a launch loads, or stores, not counting those in `without`.
VirtAddr lowest(const Workload& workload, std::size_t l, char how, const Buffer* without = nullptr) {
  VirtAddr least{~std::uint64_t{0}};
  for (std::uint64_t group = 0; group < workload.launches()[l].groups(); ++group) {
    for (const auto& item : touches(workload, l, group)) {
      for (const Touch& touch : item) {
        const bool left_out =
            without != nullptr && touch.at >= without->base && touch.at < without->base + without->bytes;
        if (touch.how == how && !left_out) least = std::min(least, touch.at);
      }
    }
  }
  return least;
}

void run(const Workload& workload, std::size_t l, Memory& memory) {
  const std::string& kernel = workload.launches()[l].kernel;
  if (kernel == "gemm") run_product(workload, l, memory);
  if (std::set<std::string>{"im2col", "transpose", "rotate", "dilate"}.contains(kernel)) run_sums(workload, l, memory);
}

/// The launches of the n-th convolution's passes in the order of the program: forward from its unrolling on, backward
/// from its first transposition on.
class Convolutions : public ::testing::Test {
 protected:
  static constexpr Shape kShapes[3] = {{16, 32, 16, 3, 2, 1, 8}, {32, 32, 8, 3, 1, 1, 8}, {16, 32, 16, 1, 2, 0, 8}};

  Convolutions()
      : training_(make("ResNet18", {{"divisor", 4},
                                    {"batch", kImages},
                                    {"ranks", 1},
                                    {"phases", kForward | kBackward},
                                    {"first_part", 3},
                                    {"parts", 1}})),
        memory_(*training_) {
    memory_.fill();
    const auto unrollings = launches_of(*training_, "im2col");
    for (std::size_t n = 0; n < 3; ++n) {
      forward_[n] = unrollings.at(n);
      // Backward in the opposite order, with an unrolling for the weights and one for the input each.
      backward_[n] = unrollings.at(3 + 2 * (2 - n)) - 2;
    }
    for (std::size_t n = 0; n < 3; ++n) {
      x_[n] = lowest(*training_, forward_[n], '+');
      w_[n] = lowest(*training_, forward_[n] + 1, '+', &buffer(*training_, "col"));
      y_[n] = lowest(*training_, forward_[n] + 2, '-');
      dy_[n] = lowest(*training_, backward_[n] + 1, '+');
    }
  }

  std::shared_ptr<const Workload> training_;
  Memory memory_;
  std::array<std::size_t, 3> forward_{}, backward_{};
  std::array<VirtAddr, 3> x_, w_, y_, dy_;
};

TEST_F(Convolutions, TheStreamsConvolve) {
  for (std::size_t n = 0; n < 3; ++n) {
    const Shape& s = kShapes[n];
    std::vector<double> expected(kImages * s.out * s.result * s.result);
    for_each_product(s, [&](std::uint64_t x, std::uint64_t w, std::uint64_t y) {
      expected[y] += memory_[x_[n] + 4 * x] * memory_[w_[n] + 4 * w];
    });
    for (std::size_t l = forward_[n]; l < forward_[n] + 3; ++l) run(*training_, l, memory_);
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(memory_[y_[n] + 4 * i], expected[i]) << n << " " << i;
  }
}

TEST_F(Convolutions, TheStreamsMakeTheGradientsOfTheWeights) {
  for (std::size_t n = 0; n < 3; ++n) {
    const Shape& s = kShapes[n];
    std::vector<double> expected(s.out * s.in * s.kernel * s.kernel);
    for_each_product(s, [&](std::uint64_t x, std::uint64_t w, std::uint64_t y) {
      expected[w] += memory_[x_[n] + 4 * x] * memory_[dy_[n] + 4 * y];
    });
    for (std::size_t l = backward_[n]; l < backward_[n] + 4; ++l) run(*training_, l, memory_);
    const VirtAddr result = lowest(*training_, backward_[n] + 3, '-');
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(memory_[result + 4 * i], expected[i]) << n << " " << i;
  }
}

TEST_F(Convolutions, TheStreamsMakeTheGradientsOfTheInput) {
  for (std::size_t n = 0; n < 3; ++n) {
    const Shape& s = kShapes[n];
    std::vector<double> expected(kImages * s.in * s.side * s.side);
    for_each_product(s, [&](std::uint64_t x, std::uint64_t w, std::uint64_t y) {
      expected[x] += memory_[w_[n] + 4 * w] * memory_[dy_[n] + 4 * y];
    });
    const std::size_t begin = backward_[n] + 4, end = begin + (s.stride > 1 ? 6 : 5);
    for (std::size_t l = begin; l < end; ++l) run(*training_, l, memory_);
    const VirtAddr result = lowest(*training_, end - 1, '-');
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(memory_[result + 4 * i], expected[i]) << n << " " << i;
  }
}

TEST(Pooling, EveryGradientGoesToOneElementOfItsWindow) {
  struct Case {
    const char* network;
    std::uint64_t part, planes, side, result, kernel, stride, pad;
  };
  for (const Case& c : {Case{"VGG16", 12, 32, 4, 2, 2, 2, 0}, Case{"ResNet18", 0, 4, 32, 16, 3, 2, 1}}) {
    const auto training =
        make(c.network,
             {{"ranks", 1}, {"batch", 1}, {"phases", kForward | kBackward}, {"first_part", c.part}, {"parts", 1}});
    const std::size_t l = launches_of(*training, "max_pool_back").at(0);
    const VirtAddr results = lowest(*training, l, '-');
    const std::size_t forward = launches_of(*training, "max_pool").at(0);
    const Buffer* places = nullptr;
    for (const Buffer& each : training->buffers()) {
      if (each.name.starts_with("places")) places = &each;
    }
    const VirtAddr gradients = lowest(*training, l, '+', places);
    std::vector<int> taken(c.planes * c.result * c.result);
    for (std::uint64_t group = 0; group < training->launches()[l].groups(); ++group) {
      for (const auto& item : touches(*training, l, group)) {
        if (item.empty()) continue;
        const std::uint64_t element = (item.back().at.value - results.value) / 4;
        const std::uint64_t y = element / c.side % c.side, x = element % c.side;
        for (const Touch& touch : item) {
          if (touch.how == '-' || (touch.at >= places->base && touch.at < places->base + places->bytes)) continue;
          const std::uint64_t window = (touch.at.value - gradients.value) / 4;
          ++taken.at(window);
          EXPECT_EQ(window / c.result / c.result, element / c.side / c.side);
          EXPECT_LT(y + c.pad - window / c.result % c.result * c.stride, c.kernel);
          EXPECT_LT(x + c.pad - window % c.result * c.stride, c.kernel);
        }
      }
    }
    EXPECT_EQ(taken, std::vector<int>(taken.size(), 1)) << c.network;
    EXPECT_EQ(elements_of(*training, forward), c.planes * c.result * c.result);
  }
}

TEST(Pooling, TheSeedDrawsTheLargestElements) {
  const Settings window{{"ranks", 1}, {"phases", kBackward}, {"first_part", 1}, {"parts", 1}};
  const auto one = make("VGG16", window, 1), same = make("VGG16", window, 1), other = make("VGG16", window, 2);
  EXPECT_EQ(touches(*one, 0, 0), touches(*same, 0, 0));
  EXPECT_NE(touches(*one, 0, 0), touches(*other, 0, 0));
}

std::string refusal(Settings settings) {
  try {
    make("VGG16", std::move(settings));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Training, SaysWhatDoesNotGo) {
  EXPECT_EQ(
      refusal({{"first_part", 16}}),
      "The parameter `first_part` of VGG16 is 16, but is beyond the last part; the nearest possible value is 15.");
  EXPECT_EQ(refusal({{"divisor", 3}}),
            "The parameter `divisor` of VGG16 is 3, but must be 1, 2, 4, 8 or 16; the nearest possible value is 4.");
  EXPECT_EQ(refusal({{"tile", 48}}),
            "The parameter `tile` of VGG16 is 48, but must be 16, 32 or 64; the nearest possible value is 64.");
  EXPECT_EQ(refusal({{"ranks", 1}, {"phases", 4}}),
            "The parameter `ranks` of VGG16 is 1, but one rank alone exchanges nothing; the nearest possible value is "
            "2.");
}

}  // namespace
}  // namespace nearfar::training_test
