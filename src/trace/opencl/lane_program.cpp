#include "trace/opencl/lane_program.h"

#include <algorithm>

namespace nearfar::opencl {

void LaneProgram::begin(std::span<const std::uint8_t> bytes) {
  bytes_ = bytes;
  at_ = 0;
  left_ = 0;
  next_ = 0;
  address_ = 0;
  at_barrier_ = false;
  ended_ = false;
  fetch();
}

void LaneProgram::fetch() {
  accesses_.clear();
  if (left_ != 0) {
    --left_;
    ++instruction_;
  } else {
    ByteReader in(bytes_.subspan(at_));
    for (;;) {
      if (in.at_end()) {
        if (!accesses_.empty()) in.fail("accesses belong to no instruction");
        ended_ = true;
        return;
      }
      const std::uint64_t head = in.number();
      const auto tag = static_cast<LaneTag>(head & ((1U << kLaneTagBits) - 1));
      const std::uint64_t value = head >> kLaneTagBits;
      if (tag > LaneTag::Local) in.fail("there is no such record of a work-item");
      if (tag == LaneTag::Run) {
        const std::uint64_t first = next_ + unzigzag(value);
        const std::uint64_t count = in.number();
        if (count == 0 || first >= code_->size() || count > code_->size() - first) {
          in.fail("a work-item executed an instruction that does not exist");
        }
        instruction_ = static_cast<std::uint32_t>(first);
        left_ = count - 1;
        next_ = first + count;
        break;
      }
      if (tag != LaneTag::Local) address_ += unzigzag(in.number());
      accesses_.push_back({tag, value, address_});
    }
    at_ += in.offset();
  }
  if ((*code_)[instruction_].kind == CodeKind::Barrier) ended_ = at_barrier_ = true;
}

void LaneProgram::advance() {
  const CodeKind kind = (*code_)[instruction_].kind;
  if (kind == CodeKind::Call) {
    calls_.push_back(instruction_);
  } else if (kind == CodeKind::Return && !calls_.empty()) {
    calls_.pop_back();
  }
  fetch();
}

std::int64_t LaneProgram::position(std::size_t depth) const {
  if (depth > calls_.size()) return -1;
  return (*code_)[depth == calls_.size() ? instruction_ : calls_[depth]].position;
}

bool LaneProgram::stands_before(const LaneProgram& other) const {
  for (std::size_t depth = 0; depth <= std::max(calls_.size(), other.calls_.size()); ++depth) {
    const std::int64_t here = position(depth), there = other.position(depth);
    if (here != there) return here < there;
  }
  return false;
}

}  // namespace nearfar::opencl
