// Whatever is declared can be drawn.
#include "declared.h"

#include <gtest/gtest.h>

#include "case.h"

namespace nearfar::declared_test {
namespace {

TEST(Declared, EveryParameterIsAChoiceOrANumber) {
  const std::vector<fuzz::Declared> all = fuzz::all_declared_parameters();
  EXPECT_GT(all.size(), 150U);
  for (const fuzz::Declared& declared : all) {
    EXPECT_TRUE(declared.is_choice() || declared.number) << declared.path;
  }
}

TEST(Case, IsReadAsItIsWritten) {
  const std::string command =
      "nearfar run FIR+KM --size small --param FIR.n=256 --seed 2 --system ats-4gpu --design least-tlb+dws --set "
      "gpus=2";
  const fuzz::Case read = fuzz::parse_case("# a comment\n" + command + " --check --threads 2\n");
  EXPECT_EQ(read.command(), command);
  EXPECT_EQ(read.command({true, 2}), command + " --check --threads 2");
  EXPECT_EQ(read.designs.size(), 2U);
}

}  // namespace
}  // namespace nearfar::declared_test
