#include <gmock/gmock.h>

#include <vector>

#include "lab/apiserver/controllers/fake_loop_testing.h"
#include "lab/apiserver/faults/faults.h"

namespace minisched::apiserver {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Delivery = Reply::Delivery;

class FakeStream : public Stream {
 public:
  bool Read(std::string& out) override {
    out += text;
    text.clear();
    return !ended;
  }
  std::string text;
  bool ended = false;
};

class FaultEffectTest : public ::testing::Test {
 protected:
  void ApplyEffect(const FaultEffect& effect) {
    apiserver::ApplyEffect(
        loop_, effect,
        [this] {
          happened_.emplace_back("handled");
          Reply reply;
          auto stream = std::make_unique<FakeStream>();
          inner_ = stream.get();
          reply.stream = std::move(stream);
          return reply;
        },
        [this](Reply reply) {
          happened_.push_back("answered " + std::to_string(reply.status));
          reply_ = std::move(reply);
          if (reply_.stream) reply_.stream->on_ready = [this] { Read(); };
        });
  }

  void Read() { open_ = open_ && reply_.stream->Read(text_); }

  // Adds text to the inner stream, and ends the inner stream if `end` is true.
  void Send(const std::string& text, bool end = false) {
    inner_->text += text;
    inner_->ended = end;
    inner_->on_ready();
  }

  FakeLoop loop_;
  std::vector<std::string> happened_;
  Reply reply_;
  FakeStream* inner_ = nullptr;
  std::string text_;
  bool open_ = true;
};

TEST_F(FaultEffectTest, ByDefaultTheAnswerIsUnchanged) {
  ApplyEffect({});
  EXPECT_THAT(happened_, ElementsAre("handled", "answered 200"));
  Send("a");
  EXPECT_EQ(text_, "a");
}

TEST_F(FaultEffectTest, LatencyDelaysTheHandler) {
  ApplyEffect({.latency = milliseconds(200)});
  loop_.Advance(milliseconds(199));
  EXPECT_THAT(happened_, IsEmpty());
  loop_.Advance(milliseconds(1));
  EXPECT_THAT(happened_, ElementsAre("handled", "answered 200"));
}

TEST_F(FaultEffectTest,
       AnErrorReplacesTheAnswerWithOrWithoutCallingTheHandler) {
  FaultEffect effect{.error = StatusError(503, "R", "m")};
  ApplyEffect(effect);
  EXPECT_THAT(happened_, ElementsAre("answered 503"));
  effect.after = true;
  ApplyEffect(effect);
  EXPECT_THAT(happened_,
              ElementsAre("answered 503", "handled", "answered 503"));
  EXPECT_EQ(reply_.stream, nullptr);
}

TEST_F(FaultEffectTest, DroppedAndWithheldAnswersHaveStatusZero) {
  ApplyEffect({.delivery = Delivery::kDropped});
  EXPECT_EQ(reply_.delivery, Delivery::kDropped);
  ApplyEffect({.delivery = Delivery::kWithheld, .after = true});
  EXPECT_EQ(reply_.delivery, Delivery::kWithheld);
  EXPECT_THAT(happened_, ElementsAre("answered 0", "handled", "answered 0"));
}

TEST_F(FaultEffectTest, DelaysEachEvent) {
  ApplyEffect({.watch_delay = milliseconds(500)});
  Send("a");
  loop_.Advance(milliseconds(300));
  Send("b", true);
  EXPECT_EQ(text_, "");
  loop_.Advance(milliseconds(200));
  EXPECT_EQ(text_, "a");
  loop_.Advance(milliseconds(299));
  EXPECT_EQ(text_, "a");
  EXPECT_TRUE(open_);
  loop_.Advance(milliseconds(1));
  EXPECT_EQ(text_, "ab");
  EXPECT_FALSE(open_);
  EXPECT_FALSE(reply_.stream->broken_off());
}

TEST_F(FaultEffectTest, ADelayedStreamHoldsAtMostAThousandTexts) {
  ApplyEffect({.watch_delay = milliseconds(500)});
  for (int i = 0; i < 1500; ++i) Send("x");
  loop_.Advance(milliseconds(500));
  EXPECT_EQ(text_, std::string(1000, 'x'));
  loop_.Advance(milliseconds(500));
  EXPECT_EQ(text_, std::string(1500, 'x'));
}

TEST_F(FaultEffectTest, CutsAWatch) {
  ApplyEffect({.watch_cut = milliseconds(500)});
  Send("a");
  loop_.Advance(milliseconds(499));
  EXPECT_TRUE(open_);
  EXPECT_FALSE(reply_.stream->broken_off());
  loop_.Advance(milliseconds(1));
  EXPECT_FALSE(open_);
  EXPECT_TRUE(reply_.stream->broken_off());
  EXPECT_EQ(text_, "a");
}

TEST_F(FaultEffectTest, TheStreamMayBeDestroyedBeforeItsTimersFire) {
  ApplyEffect({.watch_delay = milliseconds(5), .watch_cut = milliseconds(5)});
  Send("a");
  reply_ = {};
  loop_.Advance(milliseconds(5));
  EXPECT_EQ(text_, "");
}

}  // namespace
}  // namespace minisched::apiserver
