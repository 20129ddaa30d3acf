// The parameters of GPU instances.
#include "translation/mig_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "config/schema.h"

namespace nearfar {
namespace {

constexpr std::uint8_t kInstanceSizes[] = {7, 4, 3, 2, 1};

constexpr unsigned memory_slices_of(unsigned compute_slices) {
  switch (compute_slices) {
    case 7: return 8;
    case 3: return 4;
    default: return compute_slices;
  }
}

/// Adds every layout that begins with the first `used` instances of `layout`.
void add_layouts(InstanceLayout layout, unsigned used, unsigned compute, unsigned memory,
                 std::vector<InstanceLayout::Named>& out) {
  if (used != 0) out.push_back({layout.text(), layout});
  if (used == layout.sizes.size()) return;
  for (const std::uint8_t size : kInstanceSizes) {
    if (used != 0 && size > layout.sizes[used - 1]) continue;
    if (size > compute || memory_slices_of(size) > memory) continue;
    layout.sizes[used] = size;
    add_layouts(layout, used + 1, compute - size, memory - memory_slices_of(size), out);
    layout.sizes[used] = 0;
  }
}

}  // namespace

unsigned InstanceLayout::count() const {
  return static_cast<unsigned>(std::ranges::find(sizes, std::uint8_t{0}) - sizes.begin());
}

unsigned InstanceLayout::memory_slices(unsigned instance) const { return memory_slices_of(sizes[instance]); }

std::string InstanceLayout::text() const {
  std::string out;
  for (unsigned i = 0; i < count(); ++i) out += fmt::format("{}{}g", i == 0 ? "" : ":", sizes[i]);
  return out;
}

std::span<const InstanceLayout::Named> InstanceLayout::all() {
  static const std::vector<Named> layouts = [] {
    std::vector<Named> out;
    add_layouts({{}}, 0, kComputeSlices, kMemorySlices, out);
    return out;
  }();
  return layouts;
}

void MigSpec::describe(Section& section) {
  std::vector<Option<InstanceLayout>> layouts;
  for (const InstanceLayout::Named& each : InstanceLayout::all()) layouts.push_back({each.name, each.layout});
  section.choice<InstanceLayout>("instances", instances, std::move(layouts),
                                 "How the GPU is cut into instances, by their numbers of compute slices, of which a "
                                 "GPU has seven: 3g:2g:2g is one of three and two of two; larger ones come first.");
  section.integer("sub_entries", sub_entries, Limits::powers_of_two(1, 16), "pages",
                  "Neighbouring pages that an entry of an instance's L2 TLB, or of the L3 TLB, has a sub-entry for.");
  section.child("l3_tlb", l3_tlb, "The L3 TLB that the instances share.");
  WalkersSpec::describe(section);
}

}  // namespace nearfar
