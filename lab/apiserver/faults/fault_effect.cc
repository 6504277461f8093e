// Implements ApplyEffect() of faults.h.
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "lab/apiserver/faults/faults.h"

namespace minisched::apiserver {
namespace {

using std::chrono::milliseconds;

// A stream that delays the texts of another stream, and may end abruptly.
class FaultyStream : public Stream {
 public:
  FaultyStream(Loop& loop, std::unique_ptr<Stream> inner, milliseconds delay,
               std::optional<milliseconds> cut)
      : loop_(loop), inner_(std::move(inner)), delay_(delay) {
    inner_->on_ready = [this] {
      if (on_ready) on_ready();
    };
    if (cut) Later(*cut, [this] { cut_ = true; });
  }

  bool Read(std::string& out) override {
    for (; due_ > 0 && out.size() < kReadBytes; --due_) {
      out += late_.front();
      late_.pop_front();
    }
    while (!ended_ && late_.size() < kMaxLate) {
      std::string text;
      ended_ = !inner_->Read(text);
      if (text.empty()) break;
      late_.push_back(std::move(text));
      Later(delay_, [this] { ++due_; });
    }
    return !cut_ && (!ended_ || !late_.empty());
  }

  bool broken_off() const override { return cut_; }

 private:
  // The maximal size of late_. Further texts wait in the inner stream, which
  // limits its own queue.
  static constexpr std::size_t kMaxLate = 1000;
  static constexpr std::size_t kReadBytes = 64 << 10;

  // Calls `change` and then on_ready after the delay, unless this stream has
  // been destroyed by then.
  void Later(milliseconds delay, std::function<void()> change) {
    loop_.After(delay, [this, weak = std::weak_ptr<bool>(exists_),
                        change = std::move(change)] {
      if (weak.expired()) return;
      change();
      if (on_ready) on_ready();
    });
  }

  Loop& loop_;
  const std::unique_ptr<Stream> inner_;
  const milliseconds delay_;
  std::deque<std::string> late_;
  std::size_t due_ = 0;  // the number of texts at the front that may be read
  bool ended_ = false;   // inner_ has ended
  bool cut_ = false;
  const std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

Reply Answer(Loop& loop, const FaultEffect& effect,
             const std::function<Reply()>& handle) {
  Reply reply;
  if (!effect.EndsRequest() || effect.after) reply = handle();
  if (effect.error) return effect.error->ToReply();
  if (effect.EndsRequest()) return {.delivery = effect.delivery, .status = 0};
  if (reply.stream && (effect.watch_delay.count() > 0 || effect.watch_cut)) {
    reply.stream = std::make_unique<FaultyStream>(
        loop, std::move(reply.stream), effect.watch_delay, effect.watch_cut);
  }
  return reply;
}

}  // namespace

void ApplyEffect(Loop& loop, const FaultEffect& effect,
                 const std::function<Reply()>& handle,
                 const std::function<void(Reply)>& respond) {
  const auto answer = [&loop, effect, handle, respond] {
    respond(Answer(loop, effect, handle));
  };
  if (effect.latency.count() == 0) return answer();
  loop.After(effect.latency, answer);
}

}  // namespace minisched::apiserver
