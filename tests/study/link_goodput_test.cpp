// A saturated link carries exactly what the closed form of its packets says.
#include "study/link_goodput.h"

#include <gtest/gtest.h>

namespace nearfar::link_goodput_test {
namespace {

/// The transfers of a long run beyond those of a short one take their bytes' time on the link, to the cycle.
TEST(LinkGoodput, IsTheClosedForm) {
  for (const char* format : {"pcie4", "pcie6", "nvlink"}) {
    const SystemSpec system = goodput_system("finepack-4gpu", format, {});
    for (const std::uint32_t bytes : {4U, 24U, 128U, 1024U}) {
      const LinkGoodput goodput = measure_goodput(system, bytes);
      const double cycles = static_cast<double>(goodput.transfers) * goodput.wire_bytes *
                            static_cast<double>(system.gpu.clock.hertz) /
                            static_cast<double>(system.link.packet_rate().bytes_per_second);
      EXPECT_NEAR(static_cast<double>(goodput.cycles), cycles, 1.0) << format << ", " << bytes << " bytes";
      EXPECT_NEAR(goodput.measured, goodput.closed_form, 1e-3) << format << ", " << bytes << " bytes";
    }
  }
}

TEST(LinkGoodput, OfFlitsCountsWhatTheyTake) {
  const std::vector<std::string> flits = {"link.pcie.flit_mode=true", "link.pcie.ecrc=false"};
  const LinkGoodput goodput = measure_goodput(goodput_system("finepack-4gpu", "pcie6", flits), 4);
  EXPECT_NEAR(goodput.closed_form, 4.0 / 20 * 59 / 64, 1e-9);
  EXPECT_NEAR(goodput.measured, goodput.closed_form, 1e-3);
}

}  // namespace
}  // namespace nearfar::link_goodput_test
