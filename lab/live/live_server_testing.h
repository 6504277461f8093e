#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/live/history.h"
#include "lab/live/live_server.h"
#include "lab/live/live_testing.h"

namespace minisched::live {

// A server whose actions write down their calls.
class LiveServerTest : public ::testing::Test {
 protected:
  LiveServerTest() {
    actions_.collect = [this](std::size_t pages) {
      pages_ = pages;
      return pages > 0;
    };
    actions_.attempt = [](const http::Request& request,
                          const LiveActions::Respond& respond) {
      respond(AttemptReply(request.path,
                           request.path == "1/2"
                               ? std::optional<std::string>("{\"a\":1}")
                               : std::nullopt));
    };
    actions_.pace = Recording("pace");
    actions_.end_wait = Recording("waiting");
    actions_.all_rejections = Recording("all rejections");
    actions_.api = Recording("api");
    actions_.export_objects = Recording("export");
    actions_.import_objects = Recording("import");
    actions_.reset = Recording("reset");
    options_.control = true;
  }

  LiveActions::Exchange Recording(const std::string& name) {
    return [this, name](const http::Request& request,
                        const LiveActions::Respond& respond) {
      calls_.push_back(name + " " + request.method + " " + request.path + " " +
                       request.body);
      respond(http::TextReply("done"));
    };
  }

  void Start() {
    server_ = std::make_unique<LiveServer>(options_, history_, actions_);
  }

  // Sends a request as another program would: without the page's headers.
  std::string Get(const std::string& target) {
    return Fetch(server_->url(), "GET", target);
  }
  std::string Post(const std::string& target, const std::string& body) {
    return PostJson(server_->url(), target, body);
  }
  // Sends a valid write with these headers instead of the usual ones.
  std::string Write(std::map<std::string, std::string> headers) {
    headers.emplace("Sec-Fetch-Site", "same-origin");
    headers.emplace("Content-Type", "application/json");
    return Fetch(server_->url(), "POST", "/live/pace", std::move(headers),
                 R"({"pace":"run"})");
  }

  History history_;
  LiveOptions options_;
  LiveActions actions_;
  std::vector<std::string> calls_;  // read them after a response
  std::atomic<std::size_t> pages_ = 0;
  std::unique_ptr<LiveServer> server_;
};

}  // namespace minisched::live
