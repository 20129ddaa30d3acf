#include "translation/iommu/iommu_ports.h"

#include "sim/error.h"

namespace nearfar {

void AtsPort::missed(PageKey page, Miss& miss) {
  miss.state = MissState::Ats;
  Message message;
  message.kind = MessageKind::AtsRequest;
  message.page = page;
  message.unmeasured = miss.unmeasured;
  message.prefetch = miss.ahead;
  message.stamp = static_cast<std::uint32_t>(partition_.now());
  messenger_.send(host_, message);
}

void AtsPort::on_message(const Message& message) {
  switch (message.kind) {
    case MessageKind::AtsResponse: response_came(message); break;
    case MessageKind::Map:
    case MessageKind::Data: page_placed(message); break;
    case MessageKind::Part: break;
    default: throw SimulationError("a GPU received a message that is not for it");
  }
}

void AtsPort::response_came(const Message& message) {
  Miss& miss = *tlb_.pending(message.page);
  miss.time.skip(message.accounted);
  tlb_.charge(miss, miss.unmeasured ? LatencyComponent::IommuWalk : LatencyComponent::IommuLink);
  if (!message.faulted) {
    tlb_.answer(message.page, message.mapping);
    return;
  }
  if (miss.ahead) {
    if (tlb_.drop_prefetch(message.page)) return;
    // Someone has asked since: the IOMMU shall find it, whatever room it has.
    miss.ahead = false;
    missed(message.page, miss);
    return;
  }
  miss.state = MissState::Fault;
  Message request;
  request.kind = MessageKind::Fault;
  request.page = message.page;
  request.write = miss.write;
  request.stamp = static_cast<std::uint32_t>(partition_.now());
  messenger_.send(host_, request);
}

/// The page request has been answered, perhaps with the page itself: the translation is asked for again.
void AtsPort::page_placed(const Message& message) {
  const bool comes = message.kind == MessageKind::Data;
  if (comes) caches_.page_came(PhysPage{message.from, message.stamp}, message.mapping.page);
  Timeline* timeline = partition_.timeline();
  if (comes && timeline != nullptr) timeline->frame_holds(message.mapping.page, message.page.value);
  if (message.tells_done) {
    // It leaves before the request below, so the page table has the entry when that one walks.
    Message done;
    done.kind = MessageKind::Done;
    done.page = message.page;
    messenger_.send(host_, done);
  }
  // A page that the driver brings ahead: who misses it meanwhile has asked the IOMMU, and is answered there.
  if (!message.faulted) return;
  Miss& miss = *tlb_.pending(message.page);
  miss.time.skip(message.accounted);
  tlb_.charge(miss, comes ? LatencyComponent::MigrationTransfer : LatencyComponent::LinkToGpu);
  missed(message.page, miss);
}

SvmPort::SvmPort(Partition& partition, const IommuSpec& iommu, const WalkSpec& walk, const PageTableSpec& table,
                 L2Tlb& tlb, WalkMemory& memory)
    : partition_(partition),
      hop_(iommu.hop),
      tlb_(tlb),
      request_handler_(partition.add_handler<&SvmPort::on_request>(this)),
      answer_handler_(partition.add_handler<&SvmPort::on_answer>(this)),
      iommu_(partition, iommu, walk, table, true, *this, &memory) {
  tlb.set_handler(*this);
}

void SvmPort::missed(PageKey page, Miss& miss) {
  miss.state = MissState::Ats;
  auto* request = partition_.pool().allocate<PageEvent>();
  request->page = page;
  partition_.schedule(request, request_handler_, out_.take(partition_.now()) + hop_);
}

void SvmPort::on_request(PageEvent* request) {
  Message message;
  message.kind = MessageKind::AtsRequest;
  message.page = request->page;
  message.from = partition_.device();
  message.stamp = static_cast<std::uint32_t>(partition_.now());
  partition_.pool().release(request);
  Miss& miss = *tlb_.pending(message.page);
  message.unmeasured = miss.unmeasured;
  message.prefetch = miss.ahead;
  tlb_.charge(miss, LatencyComponent::IommuLink);
  iommu_.request(message);
}

void SvmPort::iommu_answers(DeviceId, PageKey page, const Mapping* mapping, std::uint32_t accounted) {
  auto* answer = partition_.pool().allocate<Answer>();
  answer->page = page;
  // All pages are mapped from the start: only what is fetched ahead finds none.
  answer->found = mapping != nullptr;
  if (mapping != nullptr) answer->mapping = {mapping->page, mapping->writable, 0};
  answer->accounted = accounted;
  partition_.schedule(answer, answer_handler_, back_.take(partition_.now()) + hop_);
}

void SvmPort::on_answer(Answer* answer) {
  const PageKey page = answer->page;
  const Mapping mapping = answer->mapping;
  const bool found = answer->found;
  Miss& miss = *tlb_.pending(page);
  miss.time.skip(answer->accounted);
  partition_.pool().release(answer);
  tlb_.charge(miss, miss.unmeasured ? LatencyComponent::IommuWalk : LatencyComponent::IommuLink);
  if (found) {
    tlb_.answer(page, mapping);
  } else if (!tlb_.drop_prefetch(page)) {
    miss.ahead = false;
    missed(page, miss);
  }
}

}  // namespace nearfar
