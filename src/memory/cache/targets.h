// Who waits for something that is pending in an MSHR.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace nearfar {

/// Small numbers that the owner understands. A few stand in the register itself; more
/// than that is rare and goes to a list beside it.
class Targets {
 public:
  void add(std::uint16_t target) {
    if (count_ < inline_.size()) {
      inline_[count_++] = target;
    } else {
      if (more_ == nullptr) more_ = std::make_unique<std::vector<std::uint16_t>>();
      more_->push_back(target);
    }
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t i = 0; i < count_; ++i) visit(inline_[i]);
    if (more_ == nullptr) return;
    for (const std::uint16_t target : *more_) visit(target);
  }

 private:
  std::unique_ptr<std::vector<std::uint16_t>> more_;
  std::array<std::uint16_t, 7> inline_;
  std::uint16_t count_ = 0;
};

}  // namespace nearfar
