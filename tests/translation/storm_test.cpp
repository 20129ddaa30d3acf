// The baseline in storms (storm.h).
#include "translation/storm.h"

namespace nearfar::storm_test {
namespace {

class TranslationStorm : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, TranslationStorm, ::testing::Range<std::uint64_t>(0, 200));

TEST_P(TranslationStorm, AnswersEveryRequestOnce) {
  const Storm storm = make_storm(GetParam());
  Rig rig(storm.options, 0, 64);
  expect_weathered(rig, storm, GetParam());
}

}  // namespace
}  // namespace nearfar::storm_test
