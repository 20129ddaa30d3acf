// The HTTP server of `nearfar explore`, on 127.0.0.1 alone.
//
// Every request must name this server as its Host (a page from elsewhere whose name was made to mean this machine does
// not), must come from this server's own page where it has an Origin, and must bring the token that stands in the
// page's address. What does not is refused with 403.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "explore/explorer.h"

namespace nearfar {

class ExploreServer {
 public:
  /// Takes the port at once; 0 is any that is free. One that is taken is an InputError.
  ExploreServer(Explorer& explorer, std::uint16_t port);
  ExploreServer(const ExploreServer&) = delete;
  ExploreServer& operator=(const ExploreServer&) = delete;
  /// Answers nobody any more.
  ~ExploreServer();

  std::uint16_t port() const { return port_; }
  /// The page, with the token.
  std::string address() const;

 private:
  struct Http;  ///< the library's server

  std::string refusal(const void* request) const;
  void add_routes();

  Explorer& explorer_;
  std::unique_ptr<Http> http_;
  std::string token_;
  std::uint16_t port_ = 0;
  std::thread listener_;
};

}  // namespace nearfar
