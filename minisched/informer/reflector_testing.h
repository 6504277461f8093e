#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "minisched/base/fake_clock.h"
#include "minisched/base/log.h"
#include "minisched/client/client.h"
#include "minisched/informer/informer_testing.h"
#include "minisched/informer/shared_informer.h"

namespace minisched {

// Collects the warnings about malformed objects.
class WarningSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit WarningSink(Log& lines) : lines_(lines) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string line(message.payload.data(), message.payload.size());
    if (line.starts_with("ignoring ")) lines_.Add(line);
  }
  void flush_() override {}

  Log& lines_;
};

// Tests an informer's reflector with a scripted server and a fake clock.
class ReflectorTest : public testing::Test {
 protected:
  ReflectorTest() {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "", std::make_shared<WarningSink>(warnings_)));
  }
  ~ReflectorTest() override { spdlog::set_default_logger(logger_); }

  void Start(const std::string& field_selector = "") {
    informer_.emplace(client_, InformerOptions{.field_selector = field_selector,
                                               .clock = &clock_});
    informer_->AddEventHandler(changes_.Handler<Pod>());
    informer_->Start(stop_.get_token());
  }

  // Expects a list request and answers it.
  void AnswerList(const std::string& list) {
    auto [request, reply] = api_.Take();
    EXPECT_THAT(request.target, testing::Not(testing::HasSubstr("watch=")));
    reply.Send(200, list);
  }

  // Expects a watch request from `version` and leaves it without a response.
  ServerReply TakeWatch(int version) {
    auto [request, reply] = api_.Take();
    EXPECT_THAT(request.target,
                testing::AllOf(testing::HasSubstr("watch=true"),
                               testing::HasSubstr("resourceVersion=" +
                                                  std::to_string(version))));
    return reply;
  }

  // Expects a watch request from `version` and sends the headers.
  ServerReply StartWatch(int version) {
    ServerReply reply = TakeWatch(version);
    reply.Start();
    return reply;
  }

  // Expects that the reflector waits and ends the wait. Returns its length.
  std::chrono::milliseconds SkipWait() {
    clock_.AwaitSleepers(1);
    const auto wait = clock_.NextDeadline() - clock_.Now();
    clock_.Advance(wait);
    return std::chrono::duration_cast<std::chrono::milliseconds>(wait);
  }

  // Expects a wait of `least` to twice `least` and ends it.
  void ExpectWait(std::chrono::milliseconds least) {
    const std::chrono::milliseconds wait = SkipWait();
    EXPECT_GE(wait, least);
    EXPECT_LE(wait, 2 * least);
  }

  const std::shared_ptr<spdlog::logger> logger_ = spdlog::default_logger();
  ScriptedApi api_;
  FakeClock clock_;
  Client client_{api_.config(), clock_};
  Log changes_;
  Log warnings_;  // about malformed objects
  std::stop_source stop_;
  std::optional<SharedInformer<Pod>> informer_;  // last: uses the other members
};

}  // namespace minisched
