// Prefill: a decoder block of a transformer over many tokens at once (in the studies of REC: products of matrices as
// the core of language models). Products in tiles: every line of the weights is used for all tokens. Each GPU has a
// part of the heads and of the hidden features; twice in a block all of them add up their results around a ring.
#include "workload/dnn/decoder.h"

namespace nearfar {
namespace {

using namespace dnn;

class Prefill final : public Decoder {
 public:
  explicit Prefill(const Parameters& parameters) : Decoder(parameters), tile_(parameters.u32("tile")) {
    parameters.log2("tile", "must be 16, 32 or 64");
    if (context_ < tokens_) parameters.refuse("context", "must not be below tokens", tokens_);
    allocate_weights();
    allocate_activations();
    attend();
    feed_forward();
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
    const std::uint64_t scores = own_heads() * tokens_ * context_;
    x_ = elements("x", tokens_ * width_);
    normal_ = elements("normalized", tokens_ * width_);
    qkv_ = elements("qkv", 3 * tokens_ * part());
    keys_ = elements("keys", context_ * part());
    values_ = elements("values", context_ * part());
    scores_ = elements("scores", scores);
    attention_ = elements("attention", tokens_ * part());
    up_ = elements("up", 4 * tokens_ * part());
    active_ = elements("active", 4 * tokens_ * part());
    partial_ = elements("partial", tokens_ * width_);
    received_ = elements("received", tokens_ * width_);
    zeros_ = elements("zeros", std::max({4 * tokens_ * part(), tokens_ * width_, scores}));
  }

  /// d = a·b, all of them without a gap between their rows.
  void multiply(const Tensor& a, const Tensor& b, const Tensor& d, std::uint64_t columns, std::uint64_t inner) {
    add("gemm", Gemm{.a = {a, inner},
                     .b = {b, columns},
                     .c = {zeros_, columns},
                     .d = {d, columns},
                     .m = tokens_,
                     .n = columns,
                     .k = inner,
                     .tile = tile_,
                     .bytes = bytes_});
  }

  void attend() {
    normalize(x_, normal_, norms_, tokens_);
    multiply(normal_, qkv_weights_, qkv_, 3 * part(), width_);
    const std::uint64_t new_rows = bytes_ * (context_ - tokens_) * part();
    append(qkv_, part(), 3 * part(), keys_.after(new_rows), tokens_);
    append(qkv_, 2 * part(), 3 * part(), values_.after(new_rows), tokens_);
    add_scores();
    add("softmax", RowPass{.from = scores_,
                           .to = scores_,
                           .rows = own_heads() * tokens_,
                           .length = context_,
                           .arithmetic = 30,
                           .bytes = bytes_});
    add_attention();
    multiply(attention_, out_weights_, partial_, width_, part());
    add_up(partial_, tokens_ * width_);
    add_residual(x_, partial_, x_, tokens_ * width_);
  }

  void add_scores() {
    const std::uint64_t head = tokens_ * context_;
    add("gemm", Gemm{.a = {qkv_, 3 * part(), head_width()},
                     .b = {keys_, part(), head_width()},
                     .c = {zeros_, context_, head},
                     .d = {scores_, context_, head},
                     .m = tokens_,
                     .n = context_,
                     .k = head_width(),
                     .tile = tile_,
                     .heads = static_cast<std::uint32_t>(own_heads()),
                     .bytes = bytes_,
                     .transposed = true});
  }

  void add_attention() {
    add("gemm", Gemm{.a = {scores_, context_, tokens_ * context_},
                     .b = {values_, part(), head_width()},
                     .c = {zeros_, part(), head_width()},
                     .d = {attention_, part(), head_width()},
                     .m = tokens_,
                     .n = head_width(),
                     .k = context_,
                     .tile = tile_,
                     .heads = static_cast<std::uint32_t>(own_heads()),
                     .bytes = bytes_});
  }

  void feed_forward() {
    normalize(x_, normal_, norms_.after(2 * bytes_ * width_), tokens_);
    multiply(normal_, up_weights_, up_, 4 * part(), width_);
    activate(up_, active_, 4 * tokens_ * part());
    multiply(active_, down_weights_, partial_, width_, 4 * part());
    add_up(partial_, tokens_ * width_);
    add_residual(x_, partial_, x_, tokens_ * width_);
  }

  std::uint32_t tile_;
  Tensor norms_, qkv_weights_, out_weights_, up_weights_, down_weights_;
  Tensor x_, normal_, qkv_, keys_, values_, scores_, attention_, up_, active_, partial_, zeros_;
};

WorkloadInfo info() {
  auto parameters = decoder_parameters({256, 768, 4096}, {4, 12, 32}, {64, 128, 512}, {64, 128, 512});
  parameters.push_back(constant("tile", "results on a side of a product's tile: 16, 32 or 64", 16, 16, 64, 16));
  return {.name = "Prefill",
          .title = "decoder block of a transformer, many tokens",
          .suite = "REC",
          .sentence =
              "Products in tiles with a part of the weights on each GPU, and two sums over all GPUs around a "
              "ring.",
          .parameters = std::move(parameters)};
}

}  // namespace

constinit const CatalogEntry kPrefill{info, construct<Prefill>};

}  // namespace nearfar
