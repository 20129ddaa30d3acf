// A plain functional pass: the same streams, the same coalescer, placement and tag arrays as a run, and no timing.
// What it costs is the floor below which a timing simulator cannot go; a run is measured as a multiple of it.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "config/system_spec.h"
#include "gpu/coalescer.h"
#include "memory/cache/tag_array.h"
#include "program/split.h"
#include "program/workload.h"
#include "translation/address_space.h"

namespace nearfar {

class FunctionalPass {
 public:
  FunctionalPass(const SystemSpec& system, const Workload& workload)
      : system_(system),
        workload_(workload),
        frames_(system.gpus + 1),
        space_(workload, system.placement, 0, system.gpus, DeviceId{static_cast<std::uint16_t>(system.gpus)}, frames_),
        coalescer_(static_cast<unsigned>(system.gpu.line)) {
    const GpuSpec& gpu = system.gpu;
    const auto tags = [&](Bytes size, std::uint32_t ways, IndexHash hash, Replacement replacement) {
      return TagArray(size / gpu.line / ways, ways, hash, replacement);
    };
    for (unsigned g = 0; g < system.gpus; ++g) {
      l2_.push_back(tags(gpu.l2.size, gpu.l2.ways, gpu.l2.index, gpu.l2.replacement));
      for (unsigned c = 0; c < gpu.cus(); ++c) {
        l1_.push_back(tags(gpu.l1v.size, gpu.l1v.ways, gpu.l1v.index, gpu.l1v.replacement));
      }
    }
  }

  /// Runs every wavefront of every launch; the answer is the number of line accesses.
  std::uint64_t run() {
    for (std::size_t l = 0; l < workload_.launches().size(); ++l) {
      const Launch& launch = workload_.launches()[l];
      for (TagArray& l1 : l1_) l1.invalidate_all();
      for (unsigned g = 0; g < system_.gpus; ++g) {
        const Share share(launch, launch.split == Split::Greedy ? Split::Blocks : launch.split, g, system_.gpus,
                          system_.gpu.cus());
        for (std::uint64_t i = 0; i < share.size(); ++i) {
          run_group(l, launch, share[i], g, static_cast<unsigned>(i % system_.gpu.cus()));
        }
      }
    }
    return accesses_;
  }

 private:
  void run_group(std::size_t l, const Launch& launch, std::uint64_t flat, unsigned gpu, unsigned cu) {
    const std::uint32_t lanes = system_.gpu.wavefront;
    TagArray& l1 = l1_[gpu * system_.gpu.cus() + cu];
    for (std::uint32_t w = 0; w < launch.waves(lanes); ++w) {
      Stream stream = workload_.wavefront(l, launch.wave(flat, w, lanes));
      for (Plain op = stream.step(); kind_of(op) != OpKind::End; op = stream.step()) {
        if (kind_of(op) == OpKind::Load || kind_of(op) == OpKind::Atomic) {
          stream.lanes(lanes, lanes_);
          for (const PageGroup& group : coalescer_.loads(lanes_, bytes_of(op))) {
            touch(l1, space_.translate(DeviceId{static_cast<std::uint16_t>(gpu)}, group.page), group.lines, true);
          }
        } else if (kind_of(op) == OpKind::Store) {
          stream.lanes(lanes, lanes_);
          for (const StoreGroup& group : coalescer_.stores(lanes_, bytes_of(op)).groups) {
            touch(l1, space_.translate(DeviceId{static_cast<std::uint16_t>(gpu)}, group.page), group.lines, false);
          }
        }
      }
    }
  }

  void touch(TagArray& l1, PhysPage page, std::uint64_t lines, bool is_load) {
    accesses_ += static_cast<std::uint64_t>(std::popcount(lines));
    for (; lines != 0; lines &= lines - 1) {
      const PhysLine line{page, static_cast<unsigned>(std::countr_zero(lines))};
      if (look_up(l1, line.value, is_load) && is_load) continue;
      if (page.device().value < system_.gpus) look_up(l2_[page.device().value], line.number_in_device(), true);
    }
  }

  static bool look_up(TagArray& tags, std::uint64_t key, bool allocate) {
    const TagArray::Slot slot = tags.find(key);
    if (slot != TagArray::kNone) {
      tags.touch(slot);
      return true;
    }
    if (allocate) tags.fill(tags.victim(key), key);
    return false;
  }

  const SystemSpec& system_;
  const Workload& workload_;
  FrameAllocator frames_;
  AddressSpace space_;
  Coalescer coalescer_;
  LaneAddresses lanes_;
  std::vector<TagArray> l1_;
  std::vector<TagArray> l2_;
  std::uint64_t accesses_ = 0;
};

}  // namespace nearfar
