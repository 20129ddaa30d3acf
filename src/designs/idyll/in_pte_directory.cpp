#include "designs/idyll/in_pte_directory.h"

namespace nearfar {

void InPteDirectoryStats::describe(StatVisitor& visitor) {
  visitor.counter("targets", "GPUs",
                  "GPUs that the access bits of the host's page-table entry named when a page migrated.", targets);
  visitor.counter("alias_targets", "GPUs",
                  "GPUs that the access bits named although they had no mapping, since they share their bit with a GPU "
                  "that has one.",
                  alias_targets);
}

InPteDirectory::InPteDirectory(HostMmu& mmu, unsigned gpus, DeviceId host, const InPteSpec& spec)
    : mmu_(mmu), host_(host), bits_(gpus, spec.access_bits) {
  mmu_.driver().set_directory(*this);
}

void InPteDirectory::add(PageKey page, DeviceId gpu) {
  const unsigned bits = mmu_.access_bits(page);
  if ((bits & bits_.bit(gpu)) == 0) mmu_.set_access_bits(page, bits | bits_.bit(gpu));
}

void InPteDirectory::read(PageKey page, DeviceId, DeviceId kept) {
  const GpuSet named = bits_.gpus(mmu_.access_bits(page), kept);
  mmu_.set_access_bits(page, kept == host_ ? 0 : bits_.bit(kept));
  stats_.targets += named.count();
  stats_.alias_targets += named.count_without(mmu_.driver().record(page).holders);
  mmu_.driver().targets_known(page, named);
}

}  // namespace nearfar
