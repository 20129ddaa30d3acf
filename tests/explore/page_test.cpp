// The page of `nearfar explore` in a real browser, used as a person would: choose, run, watch, compare, look closer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "explore/browser.h"
#include "explore/server.h"

namespace nearfar::explore_page_test {
namespace {

using testing::Browser;
using ::testing::HasSubstr;
using testing::ScratchFolder;

/// Waits until an expression is true, and gives what another one is then.
std::string when(const std::string& condition, const std::string& value) {
  return "new Promise((done, refuse) => { const start = Date.now(); const look = () => { if (" + condition +
         ") return done(" + value +
         "); if (Date.now() - start > 60000) return refuse(document.body.innerText); setTimeout(look, 50); }; look(); "
         "})";
}

class Page : public ::testing::TestWithParam<const char*> {};

TEST_P(Page, ChoosesRunsAndCompares) {
  if (!Browser::is_installed()) {
    ASSERT_EQ(std::getenv("NEARFAR_TEST_EXTRAS"), nullptr) << "chromium is needed and not installed";
    GTEST_SKIP() << "chromium is not installed; ./test extras installs it.";
  }
  setenv("NEARFAR_SYSTEMS", NEARFAR_SOURCE_DIR "/systems", 1);
  const ScratchFolder scratch;
  Explorer explorer({scratch.file("nearfar.db"), 1, NEARFAR_PROGRAM});
  const ExploreServer server(explorer, 0);
  Browser browser(GetParam());
  browser.open_page(server.address());
  browser.evaluate(when("document.querySelectorAll('#size option').length === 3", "true"));
  EXPECT_GT(browser.evaluate("document.querySelectorAll('[data-of=workloads] input[type=checkbox]').length"), 20);
  EXPECT_EQ(browser.evaluate("document.documentElement.scrollWidth > innerWidth"), false);

  // The filter leaves what it names, and what is chosen.
  browser.evaluate(
      "(() => { const filter = document.querySelector('[data-of=designs] input[type=search]');"
      "filter.value = 'ideal-migration'; filter.dispatchEvent(new Event('input')); })()");
  EXPECT_EQ(browser.evaluate("[...document.querySelectorAll('[data-of=designs] label')].filter((l) => !l.hidden).map("
                             "(l) => l.querySelector('input').value).join()"),
            "baseline,ideal-migration");
  browser.evaluate("document.querySelector('[data-of=designs] input[value=ideal-migration]').click()");

  // A mistake is said, and nothing runs.
  browser.evaluate("document.getElementById('settings').value = 'gpuss=4'; document.getElementById('run').click()");
  EXPECT_THAT(browser.evaluate(when("problem.textContent", "problem.textContent")).get<std::string>(),
              HasSubstr("Did you mean"));
  browser.evaluate(
      "document.getElementById('settings').value = 'link.latency=100'; document.getElementById('run').click()");
  EXPECT_THAT(
      browser.evaluate(when("document.querySelectorAll('.bar').length === 2", "results.innerText")).get<std::string>(),
      HasSubstr("speedup"));
  EXPECT_THAT(browser.evaluate("document.getElementById('progress').textContent").get<std::string>(),
              HasSubstr("2 of 2 runs done"));
  const auto widths =
      browser.evaluate("[...document.querySelectorAll('.bar i')].map((b) => b.getBoundingClientRect().width)");
  EXPECT_GT(widths[0], widths[1]) << "the baseline takes longer";

  // A bar opens: latency components, what bounds the run, and what differs from the first bar's machine.
  browser.evaluate("document.querySelectorAll('.bar')[1].click()");
  const std::string detail =
      browser.evaluate(when("document.querySelector('#detail h2')", "detail.textContent")).get<std::string>();
  for (const char* part : {"MT small mmu-4gpu ideal-migration", "bound by", "mean latency of an L2 TLB miss",
                           "configuration, against MT small mmu-4gpu baseline", "migration.ideal", "utilization"}) {
    EXPECT_THAT(detail, HasSubstr(part));
  }
  EXPECT_EQ(browser.evaluate("document.documentElement.scrollWidth > innerWidth"), false);
  EXPECT_EQ(browser.evaluate("problem.textContent"), "");
  // Nothing came from elsewhere.
  EXPECT_EQ(
      browser.evaluate("performance.getEntriesByType('resource').filter((e) => !e.name.startsWith(location.origin)"
                       " && !e.name.startsWith('data:')).length"),
      0);
}

INSTANTIATE_TEST_SUITE_P(Explore, Page, ::testing::Values("1280,1000", "500,900"),
                         [](const auto& of) { return of.index == 0 ? "Desktop" : "Phone"; });

}  // namespace
}  // namespace nearfar::explore_page_test
