// A real browser that a test drives by the DevTools protocol over two pipes: it opens pages and runs scripts in them.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/process.h"

namespace nearfar::testing {

class Browser {
 public:
  static bool is_installed() { return run_shell("command -v chromium").code == 0; }

  explicit Browser(const std::string& window_size) {
    std::array<int, 2> to{}, from{};
    if (pipe(to.data()) != 0 || pipe(from.data()) != 0) throw std::runtime_error("no pipes");
    const std::vector<std::string> words = {"chromium",
                                            "--headless=new",
                                            "--no-sandbox",
                                            "--disable-gpu",
                                            "--disable-dev-shm-usage",
                                            "--disable-quic",
                                            "--no-first-run",
                                            "--disable-background-networking",
                                            "--disable-component-update",
                                            "--disable-sync",
                                            "--disable-extensions",
                                            "--remote-debugging-pipe",
                                            "--user-data-dir=" + scratch_.file("profile"),
                                            "--window-size=" + window_size};
    process_ = fork();
    if (process_ == 0) {
      setpgid(0, 0);
      // The browser reads descriptor 3 and writes 4; neither end may lie there already.
      const int in = fcntl(to[0], F_DUPFD, 10), out = fcntl(from[1], F_DUPFD, 10);
      for (const int end : {to[0], to[1], from[0], from[1]}) close(end);
      dup2(in, 3), dup2(out, 4);
      const int nothing = open("/dev/null", O_RDWR);
      dup2(nothing, 1), dup2(nothing, 2);
      std::vector<char*> arguments;
      for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
      arguments.push_back(nullptr);
      execvp(arguments[0], arguments.data());
      _exit(127);
    }
    close(to[0]), close(from[1]);
    write_ = to[1], read_ = from[0];
  }
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;
  ~Browser() {
    ::kill(-process_, SIGKILL);
    ::kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    close(write_), close(read_);
  }

  void open_page(const std::string& url) {
    const auto target = call("Target.createTarget", {{"url", url}})["targetId"];
    session_ = call("Target.attachToTarget", {{"targetId", target}, {"flatten", true}})["sessionId"];
    for (int tries = 0; tries < 200; ++tries) {
      try {
        if (evaluate("location.protocol !== 'about:' && document.readyState === 'complete'") == true) return;
      } catch (const std::runtime_error&) {  // the page before this one has just gone
      }
      usleep(50'000);
    }
    throw std::runtime_error("the page does not open");
  }

  /// What an expression gives, once its promise is kept.
  nlohmann::json evaluate(const std::string& expression) {
    const auto answer =
        call("Runtime.evaluate", {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}});
    if (answer.contains("exceptionDetails")) throw std::runtime_error(answer["exceptionDetails"].dump());
    return answer["result"].value("value", nlohmann::json());
  }

 private:
  nlohmann::json call(const std::string& method, const nlohmann::json& parameters) {
    nlohmann::json message = {{"id", ++id_}, {"method", method}, {"params", parameters}};
    if (!session_.empty()) message["sessionId"] = session_;
    const std::string text = message.dump();
    if (::write(write_, text.c_str(), text.size() + 1) < 0) throw std::runtime_error("the browser has ended");
    for (;;) {
      const nlohmann::json answer = receive();
      if (answer.value("id", 0) != id_) continue;  // an event
      if (answer.contains("error")) throw std::runtime_error(answer["error"].dump());
      return answer["result"];
    }
  }

  nlohmann::json receive() {
    for (;;) {
      if (const std::size_t end = heard_.find('\0'); end != std::string::npos) {
        const std::string text = heard_.substr(0, end);
        heard_.erase(0, end + 1);
        return nlohmann::json::parse(text);
      }
      std::array<char, 1 << 14> buffer{};
      const ssize_t count = ::read(read_, buffer.data(), buffer.size());
      if (count <= 0) throw std::runtime_error("the browser has ended");
      heard_.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

  ScratchFolder scratch_;
  pid_t process_ = -1;
  int write_ = -1, read_ = -1, id_ = 0;
  std::string session_, heard_;
};

}  // namespace nearfar::testing
