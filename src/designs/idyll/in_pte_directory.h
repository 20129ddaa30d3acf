// IDYLL's in-PTE directory: unused bits of the host's page-table entries name the GPUs that may have a mapping of the
// page, so that only these are told when it moves. GPUs whose numbers are alike modulo the number of bits share one.
#pragma once

#include <cstdint>

#include "designs/access_bits.h"
#include "designs/idyll/spec.h"
#include "translation/design_component.h"
#include "translation/host_mmu/host_mmu.h"

namespace nearfar {

struct InPteDirectoryStats {
  std::uint64_t targets = 0;
  std::uint64_t alias_targets = 0;

  void describe(StatVisitor& visitor);
};

class InPteDirectory final : public DesignComponent, public MappingDirectory {
 public:
  InPteDirectory(HostMmu& mmu, unsigned gpus, DeviceId host, const InPteSpec& spec);

  const char* name() const override { return "directory"; }
  void describe(StatVisitor& visitor) override { stats_.describe(visitor); }

  bool needs_walk() const override { return true; }
  void add(PageKey page, DeviceId gpu) override;
  void add_at_start(PageKey page, DeviceId gpu) override { add(page, gpu); }
  void read(PageKey page, DeviceId to, DeviceId kept) override;

  InPteDirectoryStats& stats() { return stats_; }

 private:
  HostMmu& mmu_;
  DeviceId host_;
  AccessBits bits_;
  InPteDirectoryStats stats_;
};

}  // namespace nearfar
