#include "tester/random_program.h"

#include <algorithm>
#include <bit>
#include <pcg_random.hpp>
#include <string>

namespace nearfar::tester {
namespace {

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}

constexpr std::uint64_t kBlockBytes = kMaxLanes * 16;

using Target = RandomProgram::Target;
using Pattern = RandomProgram::Pattern;

/// Which lanes take part: all, a random half or eighth, or a run of them.
std::uint64_t draw_active(pcg64& random) {
  const std::uint64_t draw = random();
  switch (random() % 5) {
    case 0: return draw | std::uint64_t{1} << draw % 64;
    case 1: return (draw & random() & random()) | std::uint64_t{1} << draw % 64;
    case 2: return ~std::uint64_t{0} >> draw % 64;
    default: return ~std::uint64_t{0};
  }
}

Scope draw_scope(std::uint64_t draw) {
  switch (draw % 8) {
    case 0: return Scope::Workgroup;
    case 1:
    case 2: return Scope::Gpu;
    default: return Scope::System;
  }
}

Target draw_target(pcg64& random, bool atomic) {
  static constexpr std::array<Pattern, 8> kPatterns{Pattern::OneLine,  Pattern::OneLine,  Pattern::Block,
                                                    Pattern::FewLines, Pattern::FewLines, Pattern::Scatter,
                                                    Pattern::OneLane,  Pattern::OneLane};
  static constexpr std::array<std::uint8_t, 5> kBytes{1, 2, 4, 8, 16};
  Target target;
  target.draw = random();
  target.active = draw_active(random);
  target.pattern = kPatterns[random() % kPatterns.size()];
  target.bytes = atomic ? (random() % 2 == 0 ? 4 : 8) : kBytes[random() % kBytes.size()];
  if (target.pattern == Pattern::Block) {
    target.active = random() % 4 == 0 ? target.active : ~std::uint64_t{0};
    if (!atomic) target.bytes = kBytes[2 + random() % 3];
  }
  if (target.pattern == Pattern::OneLane) target.active = std::uint64_t{1} << random() % 32;
  target.aligned = atomic || random() % 4 != 0;
  return target;
}

}  // namespace

RandomProgram::RandomProgram(const ProgramShape& shape) : shape_(shape) {
  static constexpr std::array<Placement, 3> kPlacements{Placement::Interleave, Placement::Host, Placement::Distribute};
  std::vector<VirtAddr> pages;
  if (shape.one_buffer) {
    const VirtAddr base = allocate("pages", shape.pages * kPageBytes, Placement::Interleave);
    for (unsigned p = 0; p < shape.pages; ++p) pages.push_back(base + p * kPageBytes);
  } else {
    for (unsigned p = 0; p < shape.pages; ++p) {
      pages.push_back(
          allocate("page" + std::to_string(p), shape.apart * kPageBytes, kPlacements[p % kPlacements.size()]));
    }
  }
  if (shape.members != 0) {
    const VirtAddr base = allocate("members", shape.members * kPageBytes, Placement::Interleave);
    for (unsigned p = 0; p < shape.members; ++p) pages.push_back(base + p * kPageBytes);
    pages.push_back(allocate_multicast("multicast", kPageBytes, {base, kPageBytes, shape.members}));
  }
  pcg64 random(shape.seed, 1);
  // A lane may reach into the next line, and a block is a kilobyte long: both stay in their page but for lines that
  // straddle it, which need a page behind.
  for (unsigned l = 0; l < shape.lines; ++l) {
    const std::uint64_t page = random() % pages.size();
    const std::uint64_t in_page = kPageBytes / shape.line_bytes;
    const bool last = !shape.one_buffer || page + 1 >= shape.pages;
    // Half of the lines lie side by side at the page's end, so that some of them straddle it.
    const std::uint64_t beside = random() % 2 == 0 ? in_page - 1 - random() % 2 : random() % in_page;
    lines_.push_back(pages[page] + std::min(beside, in_page - (last ? 2 : 1)) * shape.line_bytes);
  }
  for (const VirtAddr page : pages) {
    blocks_.push_back(page + random() % ((kPageBytes - kBlockBytes) / shape.line_bytes) * shape.line_bytes);
    blocks_.push_back(page + (kPageBytes - kBlockBytes));
  }
  for (const std::uint8_t weight : shape.weights) total_weight_ += weight;
  for (unsigned l = 0; l < shape.launches; ++l) {
    if (shape.host) add_host_work(l);
    Launch launch;
    launch.kernel = "k" + std::to_string(l);
    launch.groups_x = shape.groups;
    launch.size_x = shape.waves * shape.lanes;
    launch.split = shape.split;
    add_launch(launch);
  }
  if (shape.host) add_host_work(shape.launches);
}

/// Up to three ranges of buffers, from a line to all of it.
void RandomProgram::add_host_work(std::uint64_t seed) {
  pcg64 random(mix(shape_.seed * 5 + seed), 4);
  for (std::uint64_t left = random() % 4; left > 0; --left) {
    const Buffer& buffer = buffers()[random() % buffers().size()];
    const std::uint64_t first = random() % 3 == 0 ? 0 : random() % buffer.bytes;
    const std::uint64_t most = buffer.bytes - first;
    const std::uint64_t bytes = random() % 2 == 0 ? most : 1 + random() % most;
    add_host_access({buffer.base + first, bytes, random() % 2 == 0});
  }
}

VirtAddr RandomProgram::pick(std::uint64_t draw) const {
  const std::uint64_t among = (draw >> 40 & 1) == 0 ? shape_.hot : lines_.size();
  return lines_[(draw >> 8) % among];
}

VirtAddr RandomProgram::address(const Target& target, unsigned lane) const {
  if ((target.active >> lane & 1) == 0) return kIdle;
  const std::uint64_t of_lane = mix(target.draw + lane);
  const auto within = [&](VirtAddr line, std::uint64_t at) {
    at %= shape_.line_bytes;
    return line + (target.aligned ? at & ~std::uint64_t{target.bytes - 1U} : at);
  };
  switch (target.pattern) {
    case Pattern::OneLine: return within(pick(target.draw), target.draw + lane * target.bytes);
    case Pattern::Block: return blocks_[target.draw % blocks_.size()] + std::uint64_t{lane} * target.bytes;
    case Pattern::FewLines: return within(pick(mix(target.draw + lane / 16)), of_lane);
    case Pattern::Scatter: return within(pick(of_lane), of_lane);
    case Pattern::OneLane: return within(pick(target.draw), of_lane);
  }
  return kIdle;
}

Stream RandomProgram::wavefront(std::size_t launch, const Wave& wave) const {
  return roam(mix(mix(mix(shape_.seed * 3 + launch) + wave.group_x) + wave.index));
}

Stream RandomProgram::roam(std::uint64_t seed) const {
  pcg64 random(seed, 2);
  Target target = draw_target(random, false);
  for (unsigned i = 0; i < shape_.operations; ++i) {
    auto left = static_cast<unsigned>(random() % total_weight_);
    unsigned chosen = 0;
    while (left >= shape_.weights[chosen]) left -= shape_.weights[chosen++];
    const auto action = static_cast<Action>(chosen);
    // Now and then the place of the operation before: a store that is read back, a load that is overwritten.
    const bool again = random() % 4 == 0 && (action != Action::Atomic || (target.aligned && target.bytes >= 4));
    if (!again) target = draw_target(random, action == Action::Atomic);
    const std::uint64_t draw = random();
    const auto lanes = [this, &target](unsigned lane) { return address(target, lane); };
    switch (action) {
      case Action::Load: co_yield load(target.bytes, lanes); break;
      case Action::Store: co_yield store(target.bytes, lanes); break;
      case Action::Atomic: co_yield atomic(target.bytes, lanes); break;
      case Action::Scalar: co_yield scalar_load(4, pick(target.draw) + draw % (shape_.line_bytes / 4) * 4); break;
      case Action::Fence: co_yield fence(draw_scope(draw)); break;
      case Action::Wait: co_yield wait(static_cast<unsigned>(draw % 3)); break;
      case Action::Barrier: co_yield barrier(); break;
      case Action::Compute:
        co_yield valu(static_cast<unsigned>(draw % 9));
        co_yield salu(static_cast<unsigned>(draw >> 8 & 3));
        break;
    }
  }
}

}  // namespace nearfar::tester
