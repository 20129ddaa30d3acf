// The claims that come with the program, and mistakes in files of claims.
#include "report/claims_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "config/error.h"
#include "report/collect.h"
#include "report/measure.h"
#include "study/derive.h"

namespace nearfar::claims_file_test {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Claims : public ::testing::Test {
 protected:
  Claims() { setenv("NEARFAR_CLAIMS", NEARFAR_SOURCE_DIR "/claims", 1); }
};

TEST_F(Claims, OfAllPapersAreThereOnce) {
  std::set<std::string> ids;
  std::size_t count = 0;
  for (const Paper& paper : read_papers()) {
    for (const Claim& claim : paper.claims) {
      EXPECT_EQ(claim.paper, paper.id);
      EXPECT_TRUE(claim.id == paper.id || claim.id.starts_with(paper.id + ".")) << claim.id;
      ids.insert(claim.id), ++count;
    }
  }
  EXPECT_EQ(ids.size(), count);
  EXPECT_EQ(count - read_papers({"idyll-nvlink"})[0].claims.size(), 97U);
}

// A second reading of a study measures the same numbers on another machine.
TEST_F(Claims, OfASecondReadingAreTheSameNumbers) {
  const std::vector<Claim> first = read_papers({"idyll"})[0].claims;
  const std::vector<Claim> second = read_papers({"idyll-nvlink"})[0].claims;
  EXPECT_EQ(second.size(), first.size() - 1);  // but for on-touch migration, which is on the other machine too
  for (const Claim& claim : second) {
    const std::string id = "idyll" + claim.id.substr(std::string("idyll-nvlink").size());
    const auto same = std::ranges::find(first, id, &Claim::id);
    ASSERT_NE(same, first.end()) << id;
    EXPECT_EQ(published_text(claim), published_text(*same)) << id;
    EXPECT_EQ(claim.sentence, same->sentence);
  }
}

TEST_F(Claims, ExpandGroupsAndDefaults) {
  const auto papers = read_papers({"least-tlb"});
  ASSERT_EQ(papers.size(), 1U);
  const auto high = std::ranges::find(papers[0].claims, "least-tlb.single.high", &Claim::id);
  ASSERT_NE(high, papers[0].claims.end());
  EXPECT_THAT(high->over, ElementsAre("ST", "MT", "MM", "KM", "PR"));
  EXPECT_DOUBLE_EQ(high->band, 0.2);
  EXPECT_EQ(published_text(*high), "1.38×");
}

// What derive() makes of no results has all figures, series and categories.
TEST_F(Claims, NameStudiesThatMeasureThem) {
  setenv("NEARFAR_STUDIES", NEARFAR_SOURCE_DIR "/studies", 1);
  setenv("NEARFAR_SYSTEMS", NEARFAR_SOURCE_DIR "/systems", 1);
  const std::vector<Paper> papers = read_papers();
  std::vector<FigureData> figures;
  for (const std::string& name : claimed_studies(papers)) {
    for (FigureData& figure : derive(read_study(name), StudyResults())) figures.push_back(std::move(figure));
  }
  for (const MeasuredClaim& measured : measure_claims(papers, figures)) {
    if (measured.claim->study.empty()) continue;
    EXPECT_THAT(measured.note, Not(AnyOf(HasSubstr("has no"), HasSubstr("is not there")))) << measured.claim->id;
  }
}

TEST_F(Claims, OfUnknownPapersNameTheNearest) {
  try {
    read_papers({"idyl"});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Did you mean `idyll`?"));
  }
}

struct Mistake {
  const char* claim;    // lines of a claim `p.one`, or of the file when it begins with "title"
  const char* message;  // with the place
};

class ClaimMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(ClaimMistakes, ArePointedAt) {
  std::string text = GetParam().claim;
  if (!text.starts_with("title")) text = "title: P\nclaims:\n  p.one:\n" + text;
  try {
    read_paper_text(text, "claims/p.yaml", "p");
    FAIL() << "no complaint";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Claims, ClaimMistakes,
    ::testing::Values(
        Mistake{"title: P\n", "claims/p.yaml:1:1: a file of claims needs `claims`."},
        Mistake{"title: P\nclams:\n  a: b\n",
                "claims/p.yaml:2:1: a file of claims has no key `clams`. Did you mean `claims`?"},
        Mistake{"    sentence: s\n    figure: f\n    unit: x\n    quality: speedup\n",
                "claims/p.yaml:3:3: the claim `p.one` lacks `published`."},
        Mistake{"    sentense: s\n", "claims/p.yaml:4:5: a claim has no key `sentense`. Did you mean `sentence`?"},
        Mistake{"    published: fast\n", "claims/p.yaml:4:16: `published` takes a number"},
        Mistake{"    quality: sharing\n", "claims/p.yaml:4:14: `quality` is one of change, count"},
        Mistake{"    band: 20\n", "claims/p.yaml:4:11: `band` takes per cent"},
        Mistake{"    sentence: s\n    figure: f\n    unit: x\n    quality: speedup\n    published: 1\n    study: s\n",
                "the claim `p.one` lacks `plot`, since it says where it is measured."},
        Mistake{
            "    sentence: s\n    figure: f\n    unit: x\n    quality: speedup\n    published: 1\n    because: p.on\n",
            "claims/p.yaml:9:14: there is no claim `p.on` in this file. Did you mean `p.one`?"},
        Mistake{
            "    sentence: s\n    figure: f\n    unit: x\n    quality: speedup\n    published: 1\n    because: p.one\n",
            "claims/p.yaml:9:14: `p.one` names itself; a reason is another claim."}));

}  // namespace
}  // namespace nearfar::claims_file_test
