#include "translation/walk/page_table.h"

#include <utility>

namespace nearfar {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

constexpr unsigned leaf_of(PageSize size) { return size.bits < kLargePageBits ? 1 : 2; }
constexpr unsigned alike_bits_of(PageSize size) { return size.bits < kLargePageBits ? size.bits : 0; }

}  // namespace

PageTable::PageTable(unsigned levels, PageSize size, FrameSource frames)
    : levels_(levels), leaf_(leaf_of(size)), alike_bits_(alike_bits_of(size)), frames_(std::move(frames)) {
  add_node(levels_);
}

std::uint64_t PageTable::nodes(unsigned levels, PageSize size, std::uint64_t first, std::uint64_t count) {
  std::uint64_t sum = 1;  // the root
  if (count == 0) return sum;
  const unsigned leaf = leaf_of(size);
  for (unsigned level = leaf; level < levels; ++level) {
    const unsigned covered =
        9 * (level - leaf + 1) - alike_bits_of(size);  // bits of a page number below a node of this level
    sum += (((first + count - 1) >> covered) - (first >> covered)) + 1;
  }
  return sum;
}

std::uint32_t PageTable::add_node(unsigned level) {
  nodes_.push_back(std::make_unique<Node>());
  nodes_.back()->frame = frames_();
  if (level > leaf_) nodes_.back()->children.assign(512, kNone);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

const PageTable::Node* PageTable::node(unsigned level, std::uint64_t number) const {
  const Node* at = nodes_.front().get();
  for (unsigned k = levels_; k > level; --k) {
    const std::uint32_t child = at->children[index(k, number)];
    if (child == kNone) return nullptr;
    at = nodes_[child].get();
  }
  return at;
}

PageTable::Node& PageTable::make_leaf_node(std::uint64_t number) {
  Node* at = nodes_.front().get();
  for (unsigned k = levels_; k > leaf_; --k) {
    const unsigned i = index(k, number);
    if (at->children[i] == kNone) {
      const std::uint32_t child = add_node(k - 1);
      at->children[i] = child;
      at->entries[i] = Pte::node(nodes_[child]->frame);
    }
    at = nodes_[at->children[i]].get();
  }
  return *at;
}

Pte PageTable::read(std::uint64_t number) const {
  const std::uint64_t place = (number >> (9 - alike_bits_)) - first_leaf_;
  const Node* at = place < leaves_.size() ? leaves_[place] : node(leaf_, number);
  return at == nullptr ? Pte{} : at->entries[index(leaf_, number)];
}

void PageTable::write(std::uint64_t number, Pte entry) {
  const std::uint64_t place = (number >> (9 - alike_bits_)) - first_leaf_;
  Node& at = place < leaves_.size() ? *leaves_[place] : make_leaf_node(number);
  const unsigned first = index(leaf_, number);
  for (unsigned i = 0; i < 1U << alike_bits_; ++i) at.entries[first + i] = entry;
}

void PageTable::cover(std::uint64_t first, std::uint64_t count) {
  if (count == 0) return;
  const unsigned below = 9 - alike_bits_;  // bits of a page number that a leaf node resolves
  first_leaf_ = first >> below;
  leaves_.clear();
  for (std::uint64_t node = first_leaf_; node <= (first + count - 1) >> below; ++node) {
    leaves_.push_back(&make_leaf_node(node << below));
  }
}

bool PageTable::present(unsigned level, std::uint64_t number) const {
  const Node* at = node(level, number);
  return at != nullptr && at->entries[index(level, number)].valid();
}

PhysLine PageTable::line(unsigned level, std::uint64_t number) const {
  const Node* at = node(level, number);
  while (at == nullptr) at = node(++level, number);
  return PhysLine{at->frame, index(level, number) / 8};
}

}  // namespace nearfar
