// The parts of Trans-FW and IDYLL in a rig of translation alone.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "designs/idyll/in_pte_directory.h"
#include "designs/idyll/irmb.h"
#include "designs/idyll/vm_table.h"
#include "designs/trans_fw/forward_responder.h"
#include "designs/trans_fw/forwarding_table.h"
#include "designs/trans_fw/pending_request_table.h"
#include "translation/rig.h"

namespace nearfar {

struct MmuParts {
  std::vector<PendingRequestTable*> prt;
  std::vector<ForwardResponder*> responder;
  std::vector<Irmb*> irmb;
  ForwardingTable* ft = nullptr;
  InPteDirectory* directory = nullptr;
  VmTable* vm_table = nullptr;

  void add_prt(Rig& rig, unsigned gpus, const PrtSpec& spec = {}, CuckooFilter::Hash hash = metro_hash) {
    for (unsigned g = 0; g < gpus; ++g) {
      auto& part = rig.parts(g).add(std::make_unique<PendingRequestTable>(rig.gmmu(g), spec, hash));
      rig.gmmu(g).add_filter(part, 2);
      rig.gmmu(g).set_watch(part);
      prt.push_back(&part);
    }
  }
  void add_ft(Rig& rig, unsigned gpus, const FtSpec& spec = {}, CuckooFilter::Hash hash = metro_hash) {
    for (unsigned g = 0; g < gpus; ++g) {
      responder.push_back(&rig.parts(g).add(std::make_unique<ForwardResponder>(
          rig.gmmu(g), rig.l2(g), rig.wire(g),
          ForwardOptions{rig.host_device(), spec.probe_l2_tlb, spec.track == FtTrack::Holders})));
    }
    ft = &rig.parts(gpus).add(std::make_unique<ForwardingTable>(rig.host(), rig.wire(gpus), gpus, spec, hash));
  }
  void add_irmb(Rig& rig, unsigned gpus, const IrmbSpec& spec = {}) {
    for (unsigned g = 0; g < gpus; ++g) {
      auto& part = rig.parts(g).add(std::make_unique<Irmb>(rig.gmmu(g), spec));
      rig.gmmu(g).add_filter(part, 1);
      rig.gmmu(g).set_invalidator(part);
      irmb.push_back(&part);
    }
  }
  void add_directory(Rig& rig, unsigned gpus, const InPteSpec& spec = {}) {
    directory = &rig.parts(gpus).add(std::make_unique<InPteDirectory>(rig.host(), gpus, rig.host_device(), spec));
  }
  void add_vm_table(Rig& rig, unsigned gpus, const VmCacheSpec& spec = {}) {
    vm_table = &rig.parts(gpus).add(std::make_unique<VmTable>(rig.host(), gpus, rig.host_device(), spec));
  }
};

/// A walk at the host for nobody, which keeps a walker busy from `when` on.
inline void occupy_host(Rig& rig, std::uint64_t number, Cycle when) {
  rig.at(rig.host_device().value, when, [&rig, number] {
    WalkUnit& walkers = rig.host().walkers();
    walkers.submit(walkers.make(WalkKind::Demand, PageKey{0, number}), WalkSource::Demand);
  });
}

inline std::uint64_t walks_of(WalkUnit& unit, WalkKind kind) {
  return unit.stats().walks[static_cast<std::size_t>(kind)];
}

}  // namespace nearfar
