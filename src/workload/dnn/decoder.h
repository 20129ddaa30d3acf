// A decoder block of a transformer on several ranks (tensor parallelism): each has a part of the heads and of the
// hidden features, and with them a part of every matrix of weights.
#pragma once

#include "workload/catalog/entries.h"
#include "workload/dnn/network.h"

namespace nearfar::dnn {

class Decoder : public Network {
 protected:
  /// Refuses sizes that do not divide.
  explicit Decoder(const Parameters& parameters);

  Tensor elements(const char* name, std::uint64_t count) { return on_each(name, bytes_ * count); }
  std::uint64_t part() const { return width_ / ranks(); }  ///< features of a rank
  std::uint64_t own_heads() const { return heads_ / ranks(); }
  std::uint64_t head_width() const { return width_ / heads_; }

  void normalize(const Tensor& from, const Tensor& to, const Tensor& scale, std::uint64_t rows);
  /// Copies a part of each of `rows` rows, to the end of a cache.
  void append(const Tensor& from, std::uint64_t first, std::uint64_t pitch, const Tensor& to, std::uint64_t rows);
  void activate(const Tensor& from, const Tensor& to, std::uint64_t count);
  /// to = from + other; all ranks have all of each.
  void add_residual(const Tensor& from, const Tensor& other, const Tensor& to, std::uint64_t count);
  /// Adds up what every rank has of it.
  void add_up(const Tensor& array, std::uint64_t count);

  std::uint64_t width_, heads_, tokens_, context_;
  std::uint32_t bytes_;
  Tensor received_;  ///< of an exchange
};

/// The parameters of a decoder block, in the sizes of one workload.
std::vector<WorkloadParameter> decoder_parameters(const std::array<std::uint64_t, 3>& width,
                                                  const std::array<std::uint64_t, 3>& heads,
                                                  const std::array<std::uint64_t, 3>& tokens,
                                                  const std::array<std::uint64_t, 3>& context);

}  // namespace nearfar::dnn
