#include "designs/disaggregated_page_table/table_registry.h"

#include <fmt/format.h>

#include "designs/disaggregated_page_table/messages.h"

namespace nearfar {

void TableRegistryStats::describe(StatVisitor& visitor) {
  visitor.counter("clears", "messages",
                  "Requests of the host to the homes of leaf tables to make the entry of a migrating page invalid.",
                  clears);
  visitor.counter("targets", "GPUs",
                  "GPUs that the access bits of an entry in a leaf table named when its page migrated.", targets);
  visitor.counter("homes_given", "tables", "Leaf tables whose home was decided when the first page in them was mapped.",
                  homes_given);
}

TableRegistry::TableRegistry(HostMmu& mmu, Messenger& messenger, unsigned gpus, unsigned access_bits, bool broadcasts)
    : mmu_(mmu), messenger_(messenger), gpus_(gpus), bits_(gpus, access_bits), broadcasts_(broadcasts) {
  mmu_.driver().set_directory(*this);
}

bool TableRegistry::on_message(const Message& message) {
  if (message.kind == dpt::kCleared) {
    --asked_;
    const GpuSet named = bits_.gpus(message.extra, DeviceId{static_cast<std::uint16_t>(gpus_)});
    stats_.targets += named.count();
    mmu_.driver().targets_known(message.page, named);
  } else if (message.kind == dpt::kHomeWanted) {
    // Another may have asked first: then all have been told.
    if (homes_.of(message.page).home == TableHomes::kNone) give_home(message.page, message.from);
  } else if (message.kind == dpt::kHome) {
    homes_.of(message.page) = {message.to.value, message.number};
    Message known;
    known.kind = dpt::kHomeKnown;
    known.page = message.page;
    messenger_.send(message.to, known);
  } else {
    return false;
  }
  return true;
}

void TableRegistry::give_home(PageKey page, DeviceId gpu) {
  ++stats_.homes_given;
  homes_.of(page) = {gpu.value, 1};
  Message message;
  message.kind = dpt::kHome;
  message.page = TableHomes::first_of(page);
  message.to = gpu;
  message.number = 1;
  const TableHomes::Range& process = homes_.process(page.pid());
  for (unsigned g = process.first_gpu; g < process.first_gpu + process.gpus; ++g) {
    messenger_.send(DeviceId{static_cast<std::uint16_t>(g)}, message);
  }
}

void TableRegistry::read(PageKey page, DeviceId, DeviceId) {
  if (!homes_.is_disaggregated(page)) {
    GpuSet targets = mmu_.driver().record(page).holders;
    for (unsigned g = 0; g < gpus_ && broadcasts_; ++g) targets.set(g);
    mmu_.driver().targets_known(page, targets);
    return;
  }
  // A mapping that the host has sent may still be on its way to a table that has no home yet.
  if (homes_.of(page).home == TableHomes::kNone) {
    give_home(page, DeviceId{static_cast<std::uint16_t>(homes_.process(page.pid()).first_gpu)});
  }
  ++asked_;
  ++stats_.clears;
  const TableHomes::Place& place = homes_.of(page);
  Message clear;
  clear.kind = dpt::kClear;
  clear.page = page;
  clear.mapping.epoch = mmu_.driver().record(page).epoch;
  clear.number = place.version;
  messenger_.send(DeviceId{place.home}, clear);
}

std::string TableRegistry::describe_waiting() const {
  return asked_ == 0 ? std::string{} : fmt::format("  leaf tables: {} entries not made invalid yet\n", asked_);
}

}  // namespace nearfar
