// The server of `nearfar explore` over HTTP: whom it answers, what it says to bad requests, and that it runs what it is
// asked to.
#include "explore/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "cli/process.h"
#include "config/error.h"

namespace nearfar::explore_server_test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using testing::ScratchFolder;

/// -1 where no answer came.
int status_of(const httplib::Result& result) { return result ? result->status : -1; }

constexpr const char* kTiny = R"({"workloads": ["MT"], "systems": ["ideal-4gpu", "mmu-4gpu"], "designs": ["baseline"],
                                  "size": "small", "settings": ["link.latency=100"]})";

/// Systems are those of the tree, here and in the runs.
struct ShippedSystems {
  ShippedSystems() { setenv("NEARFAR_SYSTEMS", NEARFAR_SOURCE_DIR "/systems", 1); }
};

class Server : public ::testing::Test {
 protected:
  Server()
      : explorer_({scratch_.file("nearfar.db"), 1, NEARFAR_PROGRAM}),
        server_(explorer_, 0),
        client_("127.0.0.1", server_.port()) {
    const std::string address = server_.address();
    token_ = address.substr(address.find("token=") + 6);
  }

  httplib::Headers with(httplib::Headers more = {}) const {
    more.emplace("X-Nearfar-Token", token_);
    return more;
  }
  std::string host() const { return "127.0.0.1:" + std::to_string(server_.port()); }
  httplib::Result post(const std::string& path, const std::string& body) {
    return client_.Post(path.c_str(), with(), body, "application/json");
  }
  /// Without a token, and without waiting for the end of an answer.
  int first_status(const std::string& path) {
    int status = -1;
    client_.Get(
        path.c_str(), httplib::Headers{},
        [&](const httplib::Response& response) {
          status = response.status;
          return false;
        },
        [](const char*, std::size_t) { return false; });
    return status;
  }
  std::string complaint(const std::string& body) {
    const auto answer = post("/api/runs", body);
    EXPECT_EQ(answer->status, 400);
    return Json::parse(answer->body)["error"];
  }
  /// The result of a run, once there is one.
  Json result(const std::string& key) {
    for (int tries = 0; tries < 300; ++tries) {
      const auto answer = client_.Get(("/api/result?key=" + key).c_str(), with());
      Json json = Json::parse(answer->body);
      if (json.value("stored", false) || json.contains("error")) return json;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return {};
  }

  ShippedSystems systems_;
  ScratchFolder scratch_;
  Explorer explorer_;
  ExploreServer server_;
  httplib::Client client_;
  std::string token_;
};

TEST_F(Server, WantsItsTokenForEverything) {
  for (const char* path : {"/", "/api/choices", "/api/result", "/api/events"}) {
    EXPECT_EQ(first_status(path), 403) << path;
    EXPECT_EQ(first_status(std::string(path) + "?token=0123456789abcdef0123456789abcdef"), 403) << path;
  }
  const auto refused = client_.Post("/api/runs", kTiny, "application/json");
  ASSERT_EQ(status_of(refused), 403);
  EXPECT_THAT(refused->body, HasSubstr("The token is missing or wrong"));
  EXPECT_EQ(client_.Post("/api/stop", "{}", "application/json")->status, 403);
  EXPECT_EQ(client_.Get(("/?token=" + token_).c_str())->status, 200);
  EXPECT_EQ(client_.Get("/api/choices", with())->status, 200);
}

TEST_F(Server, RefusesForeignHostsAndOrigins) {
  for (const std::string& foreign : {std::string("evil.example"), "evil.example:" + std::to_string(server_.port()),
                                     std::string("127.0.0.1"), std::string("127.0.0.1:1")}) {
    EXPECT_EQ(client_.Get("/api/choices", with({{"Host", foreign}}))->status, 403) << foreign;
  }
  EXPECT_EQ(client_.Get("/api/choices", with({{"Host", "localhost:" + std::to_string(server_.port())}}))->status, 200);
  for (const std::string& foreign : {std::string("http://evil.example"), std::string("null"), "https://" + host()}) {
    EXPECT_EQ(client_.Post("/api/stop", with({{"Origin", foreign}}), "{}", "application/json")->status, 403) << foreign;
  }
  EXPECT_EQ(client_.Post("/api/stop", with({{"Origin", "http://" + host()}}), "{}", "application/json")->status, 200);
}

TEST_F(Server, ExplainsBadRequests) {
  EXPECT_THAT(complaint("nonsense"), HasSubstr("The request is no JSON object."));
  EXPECT_THAT(complaint("{}"), HasSubstr("wants a list of words under `workloads`"));
  EXPECT_THAT(complaint(R"({"workloads": [], "systems": ["mmu-4gpu"], "designs": ["baseline"]})"),
              HasSubstr("Nothing is chosen under `workloads`."));
  EXPECT_THAT(complaint(R"({"workloads": ["MTT"], "systems": ["mmu-4gpu"], "designs": ["baseline"], "size": "small"})"),
              HasSubstr("Did you mean `MT`?"));
  EXPECT_THAT(complaint(R"({"workloads": ["MT"], "systems": ["mmu-4gpu"], "designs": ["baseline"], "size": "huge"})"),
              HasSubstr("huge"));
  EXPECT_THAT(complaint(R"({"workloads": ["MT"], "systems": ["mmu-4gpu"], "designs": ["baseline"], "size": 3})"),
              HasSubstr("The size is"));
  EXPECT_THAT(
      complaint(R"({"workloads": ["MT"], "systems": ["mmu-4gpu"], "designs": ["baseline"], "settings": ["gpuss=1"]})"),
      HasSubstr("gpus"));
  const auto unknown = client_.Get("/api/result?key=x", with());
  EXPECT_EQ(unknown->status, 400);
  EXPECT_THAT(unknown->body, HasSubstr("There is no run"));
  EXPECT_EQ(client_.Get("/api/nothing", with())->status, 404);
}

TEST_F(Server, RunsWhatItIsAskedToAndShowsIt) {
  const auto answer = post("/api/runs", kTiny);
  ASSERT_EQ(answer->status, 200) << answer->body;
  const Json runs = Json::parse(answer->body)["runs"];
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0]["stored"], false);
  const std::string ideal = runs[0]["key"], mmu = runs[1]["key"];
  const Json one = result(ideal), other = result(mmu);
  ASSERT_EQ(one["stored"], true) << one;
  ASSERT_EQ(other["stored"], true) << other;
  EXPECT_LT(one["cycles"], other["cycles"]) << "page migration costs something";
  EXPECT_THAT(one["bound_by"].get<std::string>(), HasSubstr("links"));
  EXPECT_EQ(one["latencies"].size(), 1U);
  ASSERT_EQ(other["latencies"].size(), 2U);
  double sum = 0;
  for (const Json& part : other["latencies"][1]["parts"]) sum += part["cycles"].get<double>();
  EXPECT_NEAR(sum, other["latencies"][1]["mean"].get<double>(), 1e-6 * sum);
  const auto difference = client_.Get(("/api/difference?key=" + mmu + "&against=" + ideal).c_str(), with());
  ASSERT_EQ(difference->status, 200) << difference->body;
  EXPECT_THAT(difference->body, HasSubstr(R"("parameter":"translation.kind","before":"ideal","value":"mmu")"));
  // What is in the store is known at once.
  EXPECT_EQ(Json::parse(post("/api/runs", kTiny)->body)["runs"][1]["stored"], true);
}

TEST_F(Server, RunsAMixByItsName) {
  EXPECT_THAT(client_.Get("/api/choices", with())->body, HasSubstr(R"("name":"W1")"));
  const auto answer = post("/api/runs", R"({"workloads": ["FIR+MT"], "systems": ["ideal-4gpu"], "designs": ["baseline"],
                                            "size": "small", "settings": ["gpus=2"]})");
  ASSERT_EQ(answer->status, 200) << answer->body;
  const Json mix = result(Json::parse(answer->body)["runs"][0]["key"]);
  ASSERT_EQ(mix["stored"], true) << mix;
  EXPECT_TRUE(mix["bound_by"].is_null()) << "each application has bounds of its own";
  EXPECT_FALSE(mix["utilizations"].empty());
}

TEST_F(Server, TellsHowFarRunsAre) {
  std::string heard;
  std::thread listener([&] {
    httplib::Client events("127.0.0.1", server_.port());
    events.Get("/api/events", with(), [&](const char* data, std::size_t size) {
      heard.append(data, size);
      return heard.find("all runs have ended") == std::string::npos;
    });
  });
  ASSERT_EQ(post("/api/runs", kTiny)->status, 200);
  listener.join();
  EXPECT_THAT(heard, HasSubstr("data: {\"total\":"));
  EXPECT_THAT(heard, HasSubstr("\"total\":2,\"done\":2,\"failed\":0"));
}

TEST_F(Server, AnswersManyAtOnce) {
  std::atomic<int> good = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 16; ++i) {
    clients.emplace_back([&] {
      httplib::Client client("127.0.0.1", server_.port());
      for (int times = 0; times < 4; ++times) {
        const auto choices = client.Get("/api/choices", with());
        const auto runs = client.Post("/api/runs", with(), kTiny, "application/json");
        good += choices && choices->status == 200 && runs && runs->status == 200 ? 1 : 0;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good, 64);
}

TEST_F(Server, EndsRunsWhenItIsToldTo) {
  const auto answer = post("/api/runs", R"({"workloads": ["MT"], "systems": ["mmu-4gpu"], "designs": ["baseline"],
                                            "size": "medium"})");
  ASSERT_EQ(answer->status, 200) << answer->body;
  for (int tries = 0; tries < 100; ++tries) {
    if (explorer_.news_after(0, 0.1).json.find("MT medium") != std::string::npos) break;
  }
  EXPECT_EQ(post("/api/stop", "{}")->status, 200);
  std::uint64_t seen = 0;
  std::string news;
  for (int tries = 0; tries < 100 && news.find("stopped") == std::string::npos; ++tries) {
    const Explorer::News next = explorer_.news_after(seen, 0.1);
    seen = next.number, news = next.json;
  }
  EXPECT_THAT(news, HasSubstr("\"event\":\"stopped\""));
}

TEST_F(Server, APortThatIsTakenIsOneMistake) { EXPECT_THROW(ExploreServer(explorer_, server_.port()), InputError); }

TEST(ExploreCommand, SaysThatItsPortIsTakenAndEndsWell) {
  const ScratchFolder scratch;
  const testing::Outcome outcome = testing::run_shell(
      "cd " + scratch.path().string() +
      " && export NEARFAR_SYSTEMS=" NEARFAR_SOURCE_DIR "/systems && { " NEARFAR_PROGRAM
      " explore --port 0 >address 2>said & } && first=$! && "
      "for i in $(seq 100); do [ -s address ] && break; sleep 0.1; done; "
      "port=$(sed 's/.*:\\([0-9]*\\)\\/.*/\\1/' address); " NEARFAR_PROGRAM
      " explore --port $port; echo second $?; kill -INT $first; wait $first; echo first $?; cat address");
  EXPECT_THAT(outcome.out, HasSubstr("second 2\nfirst 0\nhttp://127.0.0.1:"));
  EXPECT_THAT(outcome.err, HasSubstr("cannot be had; perhaps another program has it."));
}

}  // namespace
}  // namespace nearfar::explore_server_test
