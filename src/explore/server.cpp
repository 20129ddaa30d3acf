#include "explore/server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>

#include "config/error.h"
#include "explore/explore_page.h"

namespace nearfar {
namespace {

constexpr const char* kLoopback = "127.0.0.1";
constexpr const char* kTokenHeader = "X-Nearfar-Token";
constexpr std::size_t kMostBody = 1 << 20;
constexpr std::size_t kThreads = 32;  // each page that is open keeps one for its news
constexpr double kNewsSeconds = 5;    // after which a page that has gone is noticed

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw InputError("This machine gives no random numbers for the token of the page.");
  }
  std::string out;
  for (const unsigned char byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

/// Takes the same time wherever two texts differ.
bool same_token(const std::string& one, const std::string& other) {
  if (one.size() != other.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]));
  }
  return difference == 0;
}

void answer_error(httplib::Response& response, int status, const std::string& sentence) {
  response.status = status;
  response.set_content(
      nlohmann::json({{"error", sentence}}).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
      "application/json");
}

/// What was asked for wrongly is said in a sentence.
void answer(httplib::Response& response, const std::function<std::string()>& make) {
  try {
    response.set_content(make(), "application/json");
  } catch (const InputError& error) {
    answer_error(response, 400, error.what());
  } catch (const std::exception& error) {
    answer_error(response, 500, error.what());
  }
}

}  // namespace

struct ExploreServer::Http {
  httplib::Server server;
};

ExploreServer::ExploreServer(Explorer& explorer, std::uint16_t port)
    : explorer_(explorer), http_(std::make_unique<Http>()), token_(random_token()) {
  httplib::Server& server = http_->server;
  // The library would let several servers share a port.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_payload_max_length(kMostBody);
  // A refused request's body is not read: nothing may follow it on its connection.
  server.set_keep_alive_max_count(1);
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  if (port == 0) {
    port_ = static_cast<std::uint16_t>(std::max(0, server.bind_to_any_port(kLoopback)));
  } else if (server.bind_to_port(kLoopback, port)) {
    port_ = port;
  }
  if (port_ == 0) {
    throw InputError(fmt::format(
        "The port {} of {} cannot be had; perhaps another program has it. `--port` takes another number, and 0 for any "
        "that is free.",
        port, kLoopback));
  }
  add_routes();
  listener_ = std::thread([this] { http_->server.listen_after_bind(); });
}

ExploreServer::~ExploreServer() {
  explorer_.close();
  // stop() before the listener has begun would be lost.
  while (!http_->server.is_running()) std::this_thread::yield();
  http_->server.stop();
  listener_.join();
}

std::string ExploreServer::address() const { return fmt::format("http://{}:{}/?token={}", kLoopback, port_, token_); }

/// Why a request is refused; empty: it is not.
std::string ExploreServer::refusal(const void* of) const {
  const auto& request = *static_cast<const httplib::Request*>(of);
  const auto is_own = [&](const std::string& text, const std::string& before) {
    return text == fmt::format("{}{}:{}", before, kLoopback, port_) ||
           text == fmt::format("{}localhost:{}", before, port_);
  };
  if (request.get_header_value_count("Host") != 1 || !is_own(request.get_header_value("Host"), "")) {
    return "This server is not what the request names as its host.";
  }
  if (request.has_header("Origin") && !is_own(request.get_header_value("Origin"), "http://")) {
    return "Pages from elsewhere may not ask this server.";
  }
  const std::string given =
      request.has_header(kTokenHeader) ? request.get_header_value(kTokenHeader) : request.get_param_value("token");
  if (!same_token(given, token_))
    return "The token is missing or wrong; it stands in the address that the program printed.";
  return "";
}

void ExploreServer::add_routes() {
  httplib::Server& server = http_->server;
  using httplib::Request;
  using httplib::Response;
  server.set_default_headers({{"Cache-Control", "no-store"},
                              {"X-Content-Type-Options", "nosniff"},
                              {"X-Frame-Options", "DENY"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cross-Origin-Resource-Policy", "same-origin"}});
  server.set_pre_routing_handler([this](const Request& request, Response& response) {
    const std::string why = refusal(&request);
    if (why.empty()) return httplib::Server::HandlerResponse::Unhandled;
    answer_error(response, 403, why);
    return httplib::Server::HandlerResponse::Handled;
  });
  server.set_error_handler([](const Request& request, Response& response) {
    if (response.body.empty()) {
      answer_error(response, response.status,
                   fmt::format("There is nothing for {} {} here.", request.method, request.path));
    }
  });
  server.Get("/", [](const Request&, Response& response) {
    response.set_header("Content-Security-Policy",
                        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
                        "connect-src 'self'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'");
    response.set_content(explore_page(), "text/html; charset=utf-8");
  });
  server.Get("/api/choices",
             [this](const Request&, Response& response) { answer(response, [&] { return explorer_.choices(); }); });
  server.Post("/api/runs", [this](const Request& request, Response& response) {
    answer(response, [&] { return explorer_.submit(request.body); });
  });
  server.Post("/api/stop", [this](const Request&, Response& response) {
    answer(response, [&] {
      explorer_.stop_runs();
      return std::string("{}");
    });
  });
  server.Get("/api/result", [this](const Request& request, Response& response) {
    answer(response, [&] { return explorer_.result(request.get_param_value("key")); });
  });
  server.Get("/api/difference", [this](const Request& request, Response& response) {
    answer(response,
           [&] { return explorer_.difference(request.get_param_value("key"), request.get_param_value("against")); });
  });
  server.Get("/api/events", [this](const Request&, Response& response) {
    auto seen = std::make_shared<std::uint64_t>(0);
    auto begun = std::make_shared<bool>(false);
    response.set_chunked_content_provider(
        "text/event-stream", [this, seen, begun](std::size_t, httplib::DataSink& sink) {
          // What is known stands there at once.
          const Explorer::News news = explorer_.news_after(*seen, *begun ? kNewsSeconds : 0);
          const bool is_new = !*begun || news.number > *seen;
          *begun = true;
          *seen = news.number;
          const std::string text = is_new ? fmt::format("data: {}\n\n", news.json) : std::string(": still here\n\n");
          if (explorer_.closed() || !sink.write(text.data(), text.size())) {
            sink.done();
            return false;
          }
          return true;
        });
  });
}

}  // namespace nearfar
