#include "minisched/apiserver/faults/fault_effect.h"

#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace minisched::apiserver {
namespace {

using std::chrono::milliseconds;

// A stream that comes late and may be broken off.
class FaultyStream : public Stream {
 public:
  FaultyStream(Loop& loop, std::unique_ptr<Stream> inner, milliseconds delay,
               std::optional<milliseconds> cut)
      : loop_(loop), inner_(std::move(inner)), delay_(delay) {
    inner_->on_ready = [this] { Pump(); };
    if (cut) {
      Later(*cut, [](FaultyStream& stream) { stream.cut_ = true; });
    }
    Pump();
  }

  bool Read(std::string& out) override {
    if (cut_) return false;
    if (delay_ == delay_.zero()) return inner_->Read(out);
    if (due_ == 0) return !ended_ || !late_.empty();
    for (; due_ > 0 && out.size() < kReadBytes; --due_) {
      out += late_.front();
      late_.pop_front();
    }
    // There is room again. From the loop: the reader has to be told of an end.
    Later(milliseconds(0), [](FaultyStream& stream) { stream.Pump(); });
    return true;
  }

  bool broken_off() const override { return cut_; }

 private:
  // What waits is bounded here, and by the stream behind.
  static constexpr std::size_t kMaxLate = 1000;
  static constexpr std::size_t kReadBytes = 64 << 10;

  // Takes what there is, to be read when its time has come.
  void Pump() {
    if (delay_ == delay_.zero()) return Ready();
    while (!ended_ && late_.size() < kMaxLate) {
      std::string text;
      ended_ = !inner_->Read(text);
      if (text.empty()) break;
      late_.push_back(std::move(text));
      Later(delay_, [](FaultyStream& stream) { ++stream.due_; });
    }
    if (ended_ && late_.empty()) Ready();
  }

  void Ready() {
    if (on_ready) on_ready();
  }

  // Calls `change`, and then the reader.
  void Later(milliseconds delay, void (*change)(FaultyStream&)) {
    loop_.After(delay, [weak = std::weak_ptr<FaultyStream*>(self_), change] {
      const auto self = weak.lock();
      if (!self) return;
      change(**self);
      (*self)->Ready();
    });
  }

  Loop& loop_;
  const std::unique_ptr<Stream> inner_;
  const milliseconds delay_;
  std::deque<std::string> late_;
  std::size_t due_ = 0;  // of late_, from its front
  bool ended_ = false;   // inner_ is
  bool cut_ = false;
  // Gone with this, so that a timer can tell.
  const std::shared_ptr<FaultyStream*> self_ =
      std::make_shared<FaultyStream*>(this);
};

Reply Answer(Loop& loop, const FaultEffect& effect,
             const std::function<Reply()>& handle) {
  const bool handled = effect.end == FaultEffect::End::kAnswer || effect.after;
  Reply reply = handled ? handle() : Reply();
  switch (effect.end) {
    case FaultEffect::End::kError:
      return effect.error->ToReply();
    case FaultEffect::End::kDrop:
      return {.delivery = Reply::Delivery::kDropped, .status = 0};
    case FaultEffect::End::kHang:
      return {.delivery = Reply::Delivery::kWithheld, .status = 0};
    case FaultEffect::End::kAnswer:
      break;
  }
  const bool late = effect.watch_delay > effect.watch_delay.zero();
  if (reply.stream && (late || effect.watch_cut)) {
    reply.stream = std::make_unique<FaultyStream>(
        loop, std::move(reply.stream), effect.watch_delay, effect.watch_cut);
  }
  return reply;
}

}  // namespace

void Befall(Loop& loop, const FaultEffect& effect,
            const std::function<Reply()>& handle,
            const std::function<void(Reply)>& respond) {
  if (effect.latency == effect.latency.zero()) {
    return respond(Answer(loop, effect, handle));
  }
  loop.After(effect.latency, [&loop, effect, handle, respond] {
    respond(Answer(loop, effect, handle));
  });
}

}  // namespace minisched::apiserver
