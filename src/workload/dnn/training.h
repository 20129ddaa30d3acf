// Data-parallel training: every rank has all weights and images of its own. A step goes forward through the network and
// back, adds up the gradients of all ranks and updates the weights (Adam). Convolutions are products of unrolled images
// with the weights, as in MGPUSim's networks.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workload/catalog/entries.h"
#include "workload/dnn/network.h"

namespace nearfar::dnn {

struct Convolution {
  std::uint64_t in = 0, out = 0;  ///< channels
  std::uint64_t side = 0;         ///< of the planes it reads
  std::uint32_t kernel = 3, stride = 1, pad = 1;
  bool normalized = false;  ///< batch normalization follows it; else it has a bias

  std::uint64_t result_side() const { return (side + 2 * pad - kernel) / stride + 1; }
  std::uint64_t weights() const { return out * in * kernel * kernel; }
};

/// A fully connected layer, with a bias.
struct Dense {
  std::uint64_t in = 0, out = 0;
};

/// The layers that have weights, in their order: convolutions, then fully connected ones.
struct Layers {
  std::vector<Convolution> convolutions;
  std::vector<Dense> dense;
  std::uint64_t parts = 0;  ///< of the network, which may run alone
};

/// What a layer hands on: planes of floats (image, channel, row, column); behind the first fully connected layer, a row
/// for every feature with the images side by side.
struct Activation {
  std::size_t id = 0;
  std::uint64_t channels = 0, side = 1;
  bool in_rows = false;

  std::uint64_t area() const { return side * side; }
};

class Training : public Network {
 protected:
  Training(const Parameters& parameters, std::uint64_t seed, Layers layers);

  /// The layers below belong to this part of the network; parts are numbered from 0.
  void begin_part(std::uint64_t part) { part_ = part; }

  Activation images(std::uint64_t channels, std::uint64_t side);
  Activation convolve(std::size_t convolution, const Activation& x);
  Activation connect(std::size_t dense, const Activation& x);
  Activation normalize(std::size_t convolution, const Activation& x);
  Activation rectify(const Activation& x);
  Activation largest(const Activation& x, std::uint32_t kernel, std::uint32_t stride, std::uint32_t pad);
  Activation average(const Activation& x);
  Activation sum(const Activation& x, const Activation& y);
  /// The same values for two who read them; the gradients of both are added.
  std::array<Activation, 2> fork(const Activation& x);

  /// Adds the launches of all steps; `scores` is what the network makes of the images.
  void train(const Activation& scores);

 private:
  /// Where a layer's weights are, in floats from the beginning of each array of them.
  struct Span {
    std::uint64_t first = 0, weights = 0, others = 0;  ///< others: its bias, or scales and shifts
    std::uint64_t part = 0;

    std::uint64_t length() const { return weights + others; }
  };
  struct Operation {
    std::uint64_t part;
    std::function<void()> forward, backward;
  };
  enum Phase : std::uint64_t { kForward = 1, kBackward = 2, kExchange = 4, kUpdate = 8 };

  void allocate_weights();
  void allocate_scratch();
  Activation make(const std::string& name, std::uint64_t channels, std::uint64_t side, bool in_rows = false);
  void record(std::function<void()> forward, std::function<void()> backward);
  std::uint64_t floats(const Activation& x) const { return batch_ * x.channels * x.area(); }
  const Tensor& value(const Activation& x) const { return values_[x.id]; }
  const Tensor& gradient(const Activation& x) const { return gradients_[gradient_id(x.id)]; }
  /// Activations that are added have one gradient.
  std::size_t gradient_id(std::size_t id) const;
  bool has_gradient(const Activation& x) const { return x.id != images_; }
  void allocate_gradients();

  /// Adds a launch if its part of the network runs.
  void launch(const char* name, const Kernel& kernel);
  bool runs(std::uint64_t part) const { return part >= first_part_ && (parts_ == 0 || part - first_part_ < parts_); }

  void multiply(const Matrix& a, const Matrix& b, const Tensor& d, std::array<std::uint64_t, 3> sizes);
  void gather(const char* name, const Tensor& from, const Tensor& to, std::array<std::uint64_t, 3> extent,
              std::array<std::int64_t, 3> stride, std::uint64_t origin = 0, std::uint64_t every = 1);
  void swap_planes(const Tensor& from, const Tensor& to, std::array<std::uint64_t, 3> extent);
  void transpose(const Tensor& from, const Tensor& to, std::uint64_t rows, std::uint64_t columns);

  void convolve_forward(const Convolution& c, const Span& span, const Activation& x, const Activation& y);
  void convolve_weights(const Convolution& c, const Span& span, const Activation& x, const Activation& y);
  void convolve_back(const Convolution& c, const Span& span, const Activation& x, const Activation& y);
  void normalize_forward(const Span& span, const Tensor& moments, const Activation& x, const Activation& y);
  void connect_forward(const Dense& d, const Span& span, const Activation& x, const Activation& y);
  void connect_back(const Dense& d, const Span& span, const Activation& x, const Activation& y);
  void normalize_back(const Span& span, const Tensor& moments, const Activation& x, const Activation& y);
  void loss_forward(const Activation& scores);
  void loss_back(const Activation& scores);
  void exchange(const Span& span);
  void update(const Span& span);

  std::uint64_t batch_, steps_, phases_, first_part_, parts_, exchange_;
  std::uint32_t tile_;
  bool shared_;
  std::uint64_t seed_;
  Layers layers_;
  std::vector<Span> spans_;  // of the convolutions, then of the fully connected layers
  std::uint64_t part_ = 0;

  Tensor weights_, weight_gradients_, momentum_, velocity_, received_;
  Tensor columns_, product_, addend_, turned_, turned_gradient_, dilated_, rotated_, turned_weights_;
  Tensor probabilities_, labels_;
  std::vector<Tensor> values_, gradients_;
  std::vector<Activation> activations_;
  std::vector<std::size_t> same_gradient_;  // by activation: another's id, or its own
  std::size_t images_ = 0;
  std::vector<Operation> operations_;
};

/// The parameters of training, in the sizes of one network.
std::vector<WorkloadParameter> training_parameters(const std::array<std::uint64_t, 3>& divisor,
                                                   const std::array<std::uint64_t, 3>& batch,
                                                   const std::array<std::uint64_t, 3>& ranks,
                                                   const std::array<std::uint64_t, 3>& phases,
                                                   const std::array<std::uint64_t, 3>& first_part,
                                                   const std::array<std::uint64_t, 3>& parts);

}  // namespace nearfar::dnn
