#include "workload/dnn/decoder.h"

namespace nearfar::dnn {
namespace {

constexpr std::uint64_t kWord = 4;  // bytes that the element-wise kernels handle at once

}  // namespace

Decoder::Decoder(const Parameters& parameters)
    : Network(parameters["ranks"]),
      width_(parameters["width"]),
      heads_(parameters["heads"]),
      tokens_(parameters["tokens"]),
      context_(parameters["context"]),
      bytes_(parameters.u32("bytes")) {
  if (heads_ % ranks() != 0) {
    parameters.refuse("heads", "must be a multiple of ranks", std::max(heads_ / ranks(), std::uint64_t{1}) * ranks());
  }
  if (width_ % (16 * heads_) != 0) {
    const std::uint64_t multiples = std::max(width_ / (16 * heads_), std::uint64_t{1});
    parameters.refuse("width", "must be a multiple of 16 heads", multiples * 16 * heads_);
  }
}

void Decoder::normalize(const Tensor& from, const Tensor& to, const Tensor& scale, std::uint64_t rows) {
  add("layer_norm", RowPass{.from = from,
                            .to = to,
                            .scale = scale,
                            .shift = scale.after(bytes_ * width_),
                            .scaled = true,
                            .rows = rows,
                            .length = width_,
                            .arithmetic = 6,
                            .bytes = bytes_});
}

void Decoder::append(const Tensor& from, std::uint64_t first, std::uint64_t pitch, const Tensor& to,
                     std::uint64_t rows) {
  add("append", Gather{.from = from,
                       .to = to,
                       .extent = {1, rows, part()},
                       .stride = {0, static_cast<std::int64_t>(pitch), 1},
                       .origin = first,
                       .bytes = bytes_});
}

void Decoder::activate(const Tensor& from, const Tensor& to, std::uint64_t count) {
  add("gelu", Map{.elements = count * bytes_ / kWord, .in = {from}, .out = {to}, .arithmetic = 15});
}

void Decoder::add_residual(const Tensor& from, const Tensor& other, const Tensor& to, std::uint64_t count) {
  add("add", Map{.elements = count * bytes_ / kWord, .in = {from, other}, .inputs = 2, .out = {to}});
}

void Decoder::add_up(const Tensor& array, std::uint64_t count) {
  ring(array, received_, {count * bytes_ / kWord, ranks()}, false);
}

std::vector<WorkloadParameter> decoder_parameters(const std::array<std::uint64_t, 3>& width,
                                                  const std::array<std::uint64_t, 3>& heads,
                                                  const std::array<std::uint64_t, 3>& tokens,
                                                  const std::array<std::uint64_t, 3>& context) {
  return {sized("width", "features of a token (width of the model)", width, 16, 1 << 16, 16),
          sized("heads", "heads of the attention, a multiple of ranks", heads, 1, 1024),
          sized("tokens", "tokens that are processed", tokens, 1, 1 << 14),
          sized("context", "tokens that the first of them attends to, itself included", context, 1, 1 << 13),
          constant("ranks", "GPUs that share the block, each with a part of the heads and of the weights", 4, 1, 64),
          constant("bytes", "bytes of a weight or feature: 4, or 2", 4, 2, 4, 2)};
}

}  // namespace nearfar::dnn
