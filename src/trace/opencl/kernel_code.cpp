#include "trace/opencl/kernel_code.h"

#include <algorithm>

namespace nearfar::opencl {
namespace {

using Successors = std::vector<std::vector<std::uint32_t>>;

/// Orders the blocks of a region: the parts that lead back into themselves (Tarjan's strongly connected components) in
/// topological order, and each of them, a loop, by its first block and then the rest without the way back to it.
class BlockOrder {
 public:
  explicit BlockOrder(const Successors& successors) : successors_(successors), region_(successors.size(), 0) {}

  std::vector<std::uint32_t> order() {
    std::vector<std::uint32_t> all(successors_.size());
    for (std::uint32_t block = 0; block < all.size(); ++block) all[block] = block;
    arrange(all);
    return std::move(order_);
  }

 private:
  struct Visit {
    std::uint32_t block;
    std::size_t next = 0;  ///< successors looked at
  };

  /// `blocks` belong to the current region; the first is entered first.
  void arrange(const std::vector<std::uint32_t>& blocks) {
    const std::uint32_t region = ++regions_;
    for (const std::uint32_t block : blocks) region_[block] = region;
    std::vector<std::vector<std::uint32_t>> parts = components(blocks, region);
    std::ranges::reverse(parts);
    for (const std::vector<std::uint32_t>& part : parts) {
      order_.push_back(part.front());
      if (part.size() > 1) arrange({part.begin() + 1, part.end()});
    }
  }

  /// In reverse topological order; each begins with the block by which it is entered.
  std::vector<std::vector<std::uint32_t>> components(const std::vector<std::uint32_t>& blocks, std::uint32_t region) {
    index_.assign(successors_.size(), 0);
    low_.assign(successors_.size(), 0);
    on_stack_.assign(successors_.size(), false);
    next_index_ = 0;
    std::vector<std::vector<std::uint32_t>> found;
    // First those where the region begins, the lowest last: what is completed last comes first.
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
      if (index_[*block] == 0 && !leads_here(blocks, *block, region)) visit(*block, region, found);
    }
    for (const std::uint32_t block : blocks) {
      if (index_[block] == 0) visit(block, region, found);
    }
    return found;
  }

  bool leads_here(const std::vector<std::uint32_t>& blocks, std::uint32_t block, std::uint32_t region) const {
    return std::ranges::any_of(blocks, [&](std::uint32_t from) {
      return from != block && region_[from] == region && std::ranges::count(successors_[from], block) != 0;
    });
  }

  void enter(std::uint32_t block, std::vector<Visit>& path) {
    index_[block] = low_[block] = ++next_index_;
    stack_.push_back(block);
    on_stack_[block] = true;
    path.push_back({block});
  }

  void visit(std::uint32_t root, std::uint32_t region, std::vector<std::vector<std::uint32_t>>& found) {
    std::vector<Visit> path;
    enter(root, path);
    while (!path.empty()) {
      Visit& top = path.back();
      const std::vector<std::uint32_t>& next = successors_[top.block];
      if (top.next < next.size()) {
        // The last successor first, so that the first is completed last and stands before it.
        const std::uint32_t to = next[next.size() - ++top.next];
        if (region_[to] != region) continue;
        if (index_[to] == 0) {
          enter(to, path);
        } else if (on_stack_[to]) {
          low_[top.block] = std::min(low_[top.block], index_[to]);
        }
        continue;
      }
      const std::uint32_t block = top.block;
      path.pop_back();
      if (!path.empty()) low_[path.back().block] = std::min(low_[path.back().block], low_[block]);
      if (low_[block] == index_[block]) found.push_back(pop_component(block));
    }
  }

  std::vector<std::uint32_t> pop_component(std::uint32_t entry) {
    const auto first = std::ranges::find(stack_, entry);
    std::vector<std::uint32_t> part(first, stack_.end());
    stack_.erase(first, stack_.end());
    for (const std::uint32_t block : part) on_stack_[block] = false;
    std::sort(part.begin() + 1, part.end());
    return part;
  }

  const Successors& successors_;
  std::vector<std::uint32_t> region_;
  std::uint32_t regions_ = 0;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> index_, low_;  ///< of Tarjan's algorithm; 0: not visited
  std::vector<bool> on_stack_;
  std::vector<std::uint32_t> stack_;
  std::uint32_t next_index_ = 0;
};

constexpr std::size_t kMostInstructions = 1 << 22;

}  // namespace

std::vector<std::uint32_t> execution_order(const Successors& successors) { return BlockOrder(successors).order(); }

void KernelCode::add_function(ByteReader& in) {
  const std::size_t base = instructions_.size();
  if (in.number() != base) in.fail("a function does not follow the one before");
  Successors successors(in.count("blocks"));
  std::vector<std::size_t> first;
  for (std::vector<std::uint32_t>& next : successors) {
    next.resize(in.count("successors"));
    for (std::uint32_t& to : next) {
      to = static_cast<std::uint32_t>(in.number(0, successors.size() - 1, "the number of a block"));
    }
    first.push_back(instructions_.size());
    for (std::size_t left = in.count("instructions", kMostInstructions - base); left > 0; --left) {
      CodeInstruction& code = instructions_.emplace_back();
      code.kind = static_cast<CodeKind>(in.number(0, static_cast<std::uint64_t>(CodeKind::Fence), "a kind"));
      code.count = static_cast<std::uint32_t>(in.number(0, 0xffff, "a count"));
      code.uses.resize(in.count("uses"));
      for (std::uint32_t& use : code.uses) {
        use = static_cast<std::uint32_t>(base + in.number(0, kMostInstructions, "the number of an instruction"));
      }
    }
  }
  first.push_back(instructions_.size());
  for (std::size_t i = base; i < instructions_.size(); ++i) {
    for (const std::uint32_t use : instructions_[i].uses) {
      if (use >= instructions_.size()) in.fail("an instruction uses one that does not exist");
    }
  }
  auto position = static_cast<std::uint32_t>(base);
  for (const std::uint32_t block : execution_order(successors)) {
    for (std::size_t i = first[block]; i < first[block + 1]; ++i) instructions_[i].position = position++;
  }
}

}  // namespace nearfar::opencl
