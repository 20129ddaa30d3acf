// Roles of claims, and numbers that should be doubted: a design that beats its ideal bound, a mean that one workload
// decides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/error.h"
#include "config/source.h"
#include "report/claims_file.h"
#include "report/measure.h"

namespace nearfar::warnings_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kClaims = R"(title: Made up
claims:
  p.ideal:
    {sentence: ideal, figure: Fig 1, published: 2.0, unit: x, quality: speedup, role: fact, study: s, plot: f,
     series: ideal, over: A B C, take: mean}
  p.design:
    {sentence: design, figure: Fig 2, published: 1.3, unit: x, quality: speedup, role: result, bound: p.ideal, study: s,
     plot: f, series: design, over: A B C, take: mean}
  p.other:
    {sentence: what follows, figure: Fig 2, published: 1.3, unit: x, quality: speedup, role: derived}
)";

class Warnings : public ::testing::Test {
 protected:
  /// The claim about the design where it and the ideal machine gain so much on A, B and C.
  MeasuredClaim measured(const std::vector<std::optional<double>>& ideal,
                         const std::vector<std::optional<double>>& design) {
    FigureData figure;
    figure.id = "f", figure.study = "s", figure.unit = "x";
    figure.categories = {"A", "B", "C"};
    figure.series = {{"ideal", ideal}, {"design", design}};
    return measure_claims(papers_, {figure})[1];
  }

  std::vector<Paper> papers_ = {read_paper_text(kClaims, "claims/p.yaml", "p")};
};

TEST_F(Warnings, ADesignThatBeatsItsIdealBoundIsNamedWithTheWorkloads) {
  const MeasuredClaim claim = measured({2.0, 1.2, 2.0}, {1.3, 1.3, 1.3});
  EXPECT_EQ(claim.verdict, Verdict::Met);
  EXPECT_THAT(claim.warnings, ElementsAre(AllOf(HasSubstr("faster than its ideal bound p.ideal"),
                                                HasSubstr("B (1.300× over 1.200×)"), Not(HasSubstr("A (")))));
  EXPECT_THAT(measured({2.0, 1.3, 2.0}, {1.3, 1.3, 1.3}).warnings, IsEmpty());
  EXPECT_THAT(measured({2.0, 1.295, 2.0}, {1.3, 1.3, 1.3}).warnings, IsEmpty()) << "within 1 %";
}

TEST_F(Warnings, AMeanThatOneWorkloadDecidesIsNamed) {
  // 1.3 with C, 1.0 without.
  const MeasuredClaim claim = measured({9, 9, 9}, {1.0, 1.0, 1.9});
  EXPECT_EQ(claim.verdict, Verdict::Met);
  EXPECT_THAT(claim.warnings, ElementsAre(AllOf(HasSubstr("missed without C (1.000×)"), Not(HasSubstr("without A")))));
  // The other way round too: C hides what the others show.
  EXPECT_THAT(measured({9, 9, 9}, {1.3, 1.3, 0.2}).warnings, ElementsAre(HasSubstr("met without C (1.300×)")));
  EXPECT_THAT(measured({9, 9, 9}, {1.25, 1.3, 1.35}).warnings, IsEmpty());
}

TEST_F(Warnings, OnlyResultsAreReproduced) {
  EXPECT_EQ(outcome_text(measured({9, 9, 9}, {1.3, 1.3, 1.3})), "reproduced on the system as it is");
  EXPECT_EQ(outcome_text(measured({9, 9, 9}, {1.0, 1.0, 1.0})), "not on the system as it is");
  const std::vector<MeasuredClaim> claims = measure_claims(papers_, {});
  EXPECT_EQ(outcome_text(claims[0]), "fact of the baseline");
  EXPECT_EQ(outcome_text(claims[1]), "not measured");
  EXPECT_EQ(outcome_text(claims[2]), "derived, not counted");
}

TEST_F(Warnings, RolesAndBoundsAreChecked) {
  const auto complaint = [](std::string text, const std::string& from, const std::string& to) -> std::string {
    text.replace(text.find(from), from.size(), to);
    try {
      read_paper_text(text, "c.yaml", "p");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(complaint(kClaims, "role: fact", "role: fcat"), HasSubstr("Did you mean `fact`?"));
  EXPECT_THAT(complaint(kClaims, "bound: p.ideal", "bound: p.idael"), HasSubstr("Did you mean `p.ideal`?"));
}

/// A claim without a role would be taken for a result.
TEST(Roles, EveryClaimOfAPaperHasOne) {
  std::size_t results = 0, facts = 0;
  for (const std::string& name : paper_names()) {
    const std::string path = std::string(NEARFAR_SOURCE_DIR) + "/claims/" + name + ".yaml";
    const std::string text = read_source(path, path)->text;
    std::size_t roles = 0;
    for (std::size_t at = text.find("\n    role: "); at != std::string::npos; at = text.find("\n    role: ", at + 1))
      ++roles;
    const Paper paper = read_papers({name}).front();
    EXPECT_EQ(roles, paper.claims.size()) << name;
    for (const Claim& claim : paper.claims) {
      results += claim.role == Role::Result ? 1 : 0;
      facts += claim.role == Role::Fact ? 1 : 0;
    }
  }
  EXPECT_GT(results, 50u);
  EXPECT_GT(facts, 20u);
}

}  // namespace
}  // namespace nearfar::warnings_test
