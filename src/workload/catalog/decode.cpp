// Decode: a decoder block of a transformer, token by token (in the studies of REC: products of matrices with vectors as
// the core of language models).
// Streaming: every line of the weights and of the cached keys and values is touched once a token. Each GPU has a part
// of the heads and of the weights. They add up their results around a ring, or every GPU stores its own into all copies
// of the vector: four bytes at a time, or what a workgroup has collected.
#include "workload/dnn/decoder.h"

namespace nearfar {
namespace {

using namespace dnn;

constexpr std::uint64_t kHeadBytes = 4096;  // what the items of a head's workgroup load at once

class Decode final : public Decoder {
 public:
  explicit Decode(const Parameters& parameters)
      : Decoder(parameters), by_rows_(parameters["by_rows"] == 1), collect_(parameters["collect"] == 1) {
    if (kHeadBytes % (head_width() * bytes_) != 0) {
      parameters.refuse("heads", "must leave a head a power of two of features, at most 4096 bytes",
                        width_ / std::min<std::uint64_t>(width_ & -width_, 64));
    }
    allocate_weights();
    allocate_activations();
    for (std::uint64_t token = 0; token < tokens_; ++token) {
      attend(token);
      feed_forward();
    }
  }

 private:
  void allocate_weights() {
    norms_ = elements("norms", 4 * width_);
    qkv_weights_ = elements("qkv_weights", 3 * width_ * part());
    out_weights_ = elements("projection_weights", width_ * part());
    up_weights_ = elements("up_weights", 4 * width_ * part());
    down_weights_ = elements("down_weights", 4 * width_ * part());
  }

  void allocate_activations() {
    const std::uint64_t gathered = by_rows_ ? width_ : part();
    x_ = elements("x", width_);
    normal_ = elements("normalized", width_);
    qkv_ = elements("qkv", 3 * part());
    keys_ = elements("keys", (context_ + tokens_ - 1) * part());
    values_ = elements("values", (context_ + tokens_ - 1) * part());
    attention_ = elements("attention", gathered);
    up_ = elements("up", 4 * gathered);
    active_ = elements("active", 4 * gathered);
    partial_ = elements("partial", width_);
    received_ = elements("received", width_);
  }

  void multiply(const Tensor& w, const Tensor& x, const Tensor& y, std::uint64_t rows, std::uint64_t columns,
                bool gathered) {
    add("gemv", Gemv{.w = w,
                     .x = x,
                     .y = y,
                     .rows = rows,
                     .columns = columns,
                     .bytes = bytes_,
                     .ranks = gathered ? static_cast<std::uint32_t>(ranks()) : 1,
                     .collect = collect_});
  }

  /// A product of which every rank needs the whole result: it makes a part of the rows, for all columns; or the part of
  /// the columns that it has, and then all are added up.
  void multiply_for_all(const Tensor& w, const Tensor& x, std::uint64_t columns) {
    if (by_rows_) {
      multiply(w, x, partial_, part(), columns, true);
    } else {
      multiply(w, x, partial_, width_, columns / ranks(), false);
      add_up(partial_, width_);
    }
    add_residual(x_, partial_, x_, width_);
  }

  void attend(std::uint64_t token) {
    normalize(x_, normal_, norms_, 1);
    multiply(qkv_weights_, normal_, qkv_, 3 * part(), width_, false);
    const std::uint64_t row = bytes_ * (context_ - 1 + token) * part();
    append(qkv_, part(), 3 * part(), keys_.after(row), 1);
    append(qkv_, 2 * part(), 3 * part(), values_.after(row), 1);
    add("attention", Attend{.query = qkv_,
                            .keys = keys_,
                            .values = values_,
                            .to = attention_,
                            .context = context_ + token,
                            .heads = own_heads(),
                            .width = head_width(),
                            .bytes = bytes_,
                            .ranks = by_rows_ ? static_cast<std::uint32_t>(ranks()) : 1});
    multiply_for_all(out_weights_, attention_, width_);
  }

  void feed_forward() {
    normalize(x_, normal_, norms_.after(2 * bytes_ * width_), 1);
    multiply(up_weights_, normal_, up_, 4 * part(), width_, by_rows_);
    activate(up_, active_, 4 * (by_rows_ ? width_ : part()));
    multiply_for_all(down_weights_, active_, 4 * width_);
  }

  bool by_rows_, collect_;
  Tensor norms_, qkv_weights_, out_weights_, up_weights_, down_weights_;
  Tensor x_, normal_, qkv_, keys_, values_, attention_, up_, active_, partial_;
};

WorkloadInfo info() {
  auto parameters = decoder_parameters({512, 2048, 4096}, {8, 16, 32}, {2, 2, 1}, {128, 1024, 2048});
  parameters.push_back(constant("by_rows",
                                "1: each rank makes a part of the rows of every product and stores it into all copies; "
                                "0: ranks have columns of every second product, and add up",
                                0, 0, 1));
  parameters.push_back(
      constant("collect", "1: a workgroup stores its 32 results side by side; 0: each by itself", 0, 0, 1));
  return {.name = "Decode",
          .title = "decoder block of a transformer, token by token",
          .suite = "REC",
          .sentence =
              "Streams through a part of the weights and of the cached keys and values on each GPU; sums or "
              "single results go to all GPUs.",
          .parameters = std::move(parameters)};
}

}  // namespace

constinit const CatalogEntry kDecode{info, construct<Decode>};

}  // namespace nearfar
