// What the layers of a network launch, forward and back.
#include "workload/dnn/training.h"

namespace nearfar::dnn {
namespace {

std::int64_t stride_of(std::uint64_t elements) { return static_cast<std::int64_t>(elements); }

}  // namespace

void Training::multiply(const Matrix& a, const Matrix& b, const Tensor& d, std::array<std::uint64_t, 3> sizes) {
  const auto [m, n, k] = sizes;
  launch("gemm", Gemm{.a = a, .b = b, .c = {addend_, n}, .d = {d, n}, .m = m, .n = n, .k = k, .tile = tile_});
}

void Training::gather(const char* name, const Tensor& from, const Tensor& to, std::array<std::uint64_t, 3> extent,
                      std::array<std::int64_t, 3> stride, std::uint64_t origin, std::uint64_t every) {
  launch(name, Gather{.from = from, .to = to, .extent = extent, .stride = stride, .origin = origin, .every = every});
}

/// Planes in the order (second, first) come into the order (first, second).
void Training::swap_planes(const Tensor& from, const Tensor& to, std::array<std::uint64_t, 3> extent) {
  const auto [first, second, area] = extent;
  gather("transpose", from, to, extent, {stride_of(area), stride_of(first * area), 1});
}

void Training::transpose(const Tensor& from, const Tensor& to, std::uint64_t rows, std::uint64_t columns) {
  gather("transpose", from, to, {1, columns, rows}, {0, 1, stride_of(columns)});
}

void Training::convolve_forward(const Convolution& c, const Span& span, const Activation& x, const Activation& y) {
  const Unrolling shape({.batch = batch_,
                         .channels = c.in,
                         .side = c.side,
                         .kernel = c.kernel,
                         .pad = c.pad,
                         .stride = c.stride,
                         .result_side = c.result_side()});
  const std::uint64_t n = batch_ * y.area(), k = c.in * c.kernel * c.kernel;
  launch("im2col", Unroll{shape, value(x), columns_});
  if (!c.normalized) {
    gather("repeat", weights_.after(4 * (span.first + span.weights)), turned_, {1, n, c.out}, {0, 0, 1});
    transpose(turned_, addend_, n, c.out);
  }
  multiply({weights_.after(4 * span.first), k}, {columns_, n}, product_, {c.out, n, k});
  swap_planes(product_, value(y), {batch_, c.out, y.area()});
}

/// The product of the results' gradients with the images, unrolled for a kernel as large as the results.
void Training::convolve_weights(const Convolution& c, const Span& span, const Activation& x, const Activation& y) {
  const Unrolling shape({.batch = c.in,
                         .channels = batch_,
                         .side = c.side,
                         .kernel = y.side,
                         .pad = c.pad,
                         .dilation = c.stride,
                         .result_side = c.kernel});
  const std::uint64_t n = c.in * c.kernel * c.kernel, k = batch_ * y.area();
  swap_planes(value(x), turned_, {c.in, batch_, x.area()});
  swap_planes(gradient(y), turned_gradient_, {c.out, batch_, y.area()});
  launch("im2col", Unroll{shape, turned_, columns_});
  const Tensor own = weight_gradients_.after(4 * span.first);
  multiply({turned_gradient_, k}, {columns_, n}, own, {c.out, n, k});
  if (!c.normalized)
    launch("sum", Sum{.from = turned_gradient_, .to = own.after(4 * span.weights), .rows = c.out, .length = k});
}

/// A convolution of the results' gradients, dilated by the stride, with the rotated kernels.
void Training::convolve_back(const Convolution& c, const Span& span, const Activation& x, const Activation& y) {
  const std::uint64_t area = std::uint64_t{c.kernel} * c.kernel, n = batch_ * x.area(), k = c.out * area;
  const std::uint64_t side = (y.side - 1) * c.stride + 1;
  if (c.stride > 1) {
    gather("dilate", gradient(y), dilated_, {batch_ * c.out, side, side}, {stride_of(y.area()), stride_of(y.side), 1},
           0, c.stride);
  }
  const Unrolling shape({.batch = batch_,
                         .channels = c.out,
                         .side = side,
                         .kernel = c.kernel,
                         .pad = c.kernel - 1 - c.pad,
                         .result_side = c.side});
  launch("im2col", Unroll{shape, c.stride > 1 ? dilated_ : gradient(y), columns_});
  gather("rotate", weights_.after(4 * span.first), rotated_, {1, c.out * c.in, area}, {0, stride_of(area), -1},
         area - 1);
  swap_planes(rotated_, turned_weights_, {c.in, c.out, area});
  multiply({turned_weights_, k}, {columns_, n}, product_, {c.in, n, k});
  swap_planes(product_, gradient(x), {batch_, c.in, x.area()});
}

void Training::connect_forward(const Dense& d, const Span& span, const Activation& x, const Activation& y) {
  if (!x.in_rows) transpose(value(x), turned_, batch_, d.in);
  gather("repeat", weights_.after(4 * (span.first + span.weights)), addend_, {1, d.out, batch_}, {0, 1, 0});
  multiply({weights_.after(4 * span.first), d.in}, {x.in_rows ? value(x) : turned_, batch_}, value(y),
           {d.out, batch_, d.in});
}

void Training::connect_back(const Dense& d, const Span& span, const Activation& x, const Activation& y) {
  const Tensor own = weight_gradients_.after(4 * span.first);
  if (x.in_rows) transpose(value(x), turned_, d.in, batch_);
  multiply({gradient(y), batch_}, {x.in_rows ? turned_ : value(x), d.in}, own, {d.out, d.in, batch_});
  launch("sum", Sum{.from = gradient(y), .to = own.after(4 * span.weights), .rows = d.out, .length = batch_});
  transpose(weights_.after(4 * span.first), turned_weights_, d.out, d.in);
  multiply({turned_weights_, d.out}, {gradient(y), batch_}, x.in_rows ? gradient(x) : product_, {d.in, batch_, d.out});
  if (!x.in_rows) transpose(product_, gradient(x), d.in, batch_);
}

void Training::normalize_forward(const Span& span, const Tensor& moments, const Activation& x, const Activation& y) {
  const Tensor scale = weights_.after(4 * (span.first + span.weights));
  const Tensor deviation = moments.after(4 * x.channels);
  launch(
      "moments",
      Moments{
          .in = {value(x)}, .out = {moments, deviation}, .images = batch_, .channels = x.channels, .area = x.area()});
  launch("normalize", Map{.elements = floats(x),
                          .in = {value(x)},
                          .out = {value(y)},
                          .arithmetic = 6,
                          .by_channel = {moments, deviation, scale, scale.after(4 * x.channels)},
                          .channel_inputs = 4,
                          .area = x.area(),
                          .channels = x.channels});
}

void Training::normalize_back(const Span& span, const Tensor& moments, const Activation& x, const Activation& y) {
  const Tensor scale = weights_.after(4 * (span.first + span.weights));
  const Tensor scale_gradient = weight_gradients_.after(4 * (span.first + span.weights));
  const Tensor shift_gradient = scale_gradient.after(4 * x.channels);
  launch("moments_back", Moments{.in = {gradient(y), value(x)},
                                 .inputs = 2,
                                 .out = {scale_gradient, shift_gradient},
                                 .images = batch_,
                                 .channels = x.channels,
                                 .area = x.area()});
  launch("normalize_back",
         Map{.elements = floats(x),
             .in = {gradient(y), value(x)},
             .inputs = 2,
             .out = {gradient(x)},
             .arithmetic = 12,
             .by_channel = {moments, moments.after(4 * x.channels), scale, scale_gradient, shift_gradient},
             .channel_inputs = 5,
             .area = x.area(),
             .channels = x.channels});
}

void Training::loss_forward(const Activation& scores) {
  launch("softmax", Softmax{.from = value(scores), .to = probabilities_, .classes = scores.channels, .images = batch_});
}

void Training::loss_back(const Activation& scores) {
  launch("cross_entropy_back", Map{.elements = floats(scores),
                                   .in = {probabilities_},
                                   .out = {gradient(scores)},
                                   .arithmetic = 6,
                                   .by_channel = {labels_},
                                   .channel_inputs = 1,
                                   .channels = batch_});
}

}  // namespace nearfar::dnn
