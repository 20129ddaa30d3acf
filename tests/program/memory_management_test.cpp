// What managements of memory add to the steps of a program.
#include "program/memory_management.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace nearfar::memory_management_test {
namespace {

/// Buffers of whole pages and steps over them; no kernel ever runs.
class Plan final : public Workload {
 public:
  using Workload::add_host_access;
  using Workload::add_host_read;
  using Workload::add_host_write;

  VirtAddr buffer(std::uint64_t pages, const KernelUse& kernels = {}) {
    return allocate("b", pages * kPageBytes, Placement::Distribute, kernels);
  }
  void launch() { add_launch({.kernel = "k"}); }
  Stream wavefront(std::size_t, const Wave&) const override { return {}; }
};

/// Each step in a word; ranges by their first page and their pages, counted from the first buffer.
struct Words {
  std::string operator()(const LaunchStep&) const { return "launch"; }
  std::string operator()(const Copy&) const { return "copy"; }
  std::string operator()(const HostPhase&) const { return "phase"; }
  std::string operator()(const HostAccess& access) const {
    return (access.writes ? "write " : "read ") + range(access.first, access.bytes);
  }
  std::string operator()(const Transfer& transfer) const {
    return (transfer.to_host ? "out " : "in ") + range(transfer.first, transfer.bytes);
  }
  std::string operator()(const Sync&) const { return "sync"; }

  static std::string range(VirtAddr first, std::uint64_t bytes) {
    return fmt::format("{}+{}", (first.value - kFirstBuffer.value) / kPageBytes, bytes / kPageBytes);
  }
};

std::string managed(const Plan& plan, MemoryManagement management, CopyIn copy_in = CopyIn::All) {
  MemorySpec memory;
  memory.management = management;
  memory.copy_in = copy_in;
  std::string text;
  for (const Step& step : managed_steps(plan, memory)) {
    if (!text.empty()) text += ", ";
    text += std::visit(Words(), step);
  }
  return text;
}

TEST(MemoryManagement, MemcpyCopiesInWhatTheHostHasAndOutWhatKernelsWrite) {
  Plan plan;
  plan.buffer(4, kOnlyRead);
  plan.buffer(2, kOverwritten);
  plan.launch();
  plan.launch();
  EXPECT_EQ(managed(plan, MemoryManagement::Memcpy), "in 0+4, in 4+2, sync, launch, launch, out 4+2, sync");
  EXPECT_EQ(managed(plan, MemoryManagement::Memcpy, CopyIn::Read), "in 0+4, sync, launch, launch, out 4+2, sync");
}

TEST(MemoryManagement, MemcpyCopiesWhatTheHostTouchesBetweenLaunches) {
  Plan plan;
  const VirtAddr input = plan.buffer(4, kOnlyRead);
  const VirtAddr output = plan.buffer(3);
  plan.launch();
  plan.add_host_access({output, kPageBytes, false});
  plan.add_host_access({input + kPageBytes, kPageBytes, true});
  plan.launch();
  plan.add_host_read(output);
  EXPECT_EQ(managed(plan, MemoryManagement::Memcpy),
            "in 0+4, in 4+3, sync, launch, out 4+1, sync, read 4+1, write 1+1, in 1+1, sync, launch, "
            "out 4+3, sync, read 4+3");
}

/// A page that the host overwrites whole need not come before; one of which it writes a part has to.
TEST(MemoryManagement, MemcpyBringsPagesThatTheHostWritesInPart) {
  Plan plan;
  const VirtAddr data = plan.buffer(3);
  plan.launch();
  plan.add_host_access({data + kPageBytes / 2, 2 * kPageBytes, true});
  plan.launch();
  EXPECT_EQ(managed(plan, MemoryManagement::Memcpy),
            "in 0+3, sync, launch, out 0+1, out 2+1, sync, write 0+2, in 0+3, sync, launch, out 0+3, sync");
}

TEST(MemoryManagement, MemcpyKnowsHowMuchOfABufferIsUsed) {
  Plan plan;
  plan.buffer(8, {.reads = false, .bytes = 3 * kPageBytes});
  plan.launch();
  EXPECT_EQ(managed(plan, MemoryManagement::Memcpy), "in 0+3, sync, launch, out 0+3, sync");
}

TEST(MemoryManagement, SoftwareUmCopiesWhateverWasTouchedAndThenEverything) {
  Plan plan;
  const VirtAddr input = plan.buffer(4, kOnlyRead);
  const VirtAddr output = plan.buffer(2, kOverwritten);
  plan.add_host_write(input);
  plan.launch();
  plan.launch();
  plan.add_host_read(output);
  plan.launch();
  EXPECT_EQ(managed(plan, MemoryManagement::SoftwareUm),
            "out 0+4, sync, write 0+4, in 0+4, sync, launch, launch, out 0+4, out 4+2, sync, read 4+2, "
            "in 4+2, sync, launch, out 0+4, out 4+2, sync");
}

/// Data that the host initializes and no kernel uses is copied three times.
TEST(MemoryManagement, SoftwareUmCopiesWhatNoKernelUses) {
  Plan plan;
  const VirtAddr z = plan.buffer(160);
  plan.add_host_write(z);
  plan.launch();
  EXPECT_EQ(managed(plan, MemoryManagement::SoftwareUm),
            "out 0+160, sync, write 0+160, in 0+160, sync, launch, out "
            "0+160, sync");
}

TEST(MemoryManagement, TheOthersAddNothing) {
  Plan plan;
  plan.add_host_write(plan.buffer(2));
  plan.launch();
  EXPECT_EQ(managed(plan, MemoryManagement::Placed), "write 0+2, launch");
  EXPECT_EQ(managed(plan, MemoryManagement::ZeroCopy), "write 0+2, launch");
}

}  // namespace
}  // namespace nearfar::memory_management_test
