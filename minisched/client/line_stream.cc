#include "minisched/client/line_stream.h"

#include <utility>

#include "minisched/client/io_thread.h"
#include "minisched/client/operation.h"

namespace minisched {

using Part = StreamBody::Part;

LineStream::LineStream(std::shared_ptr<const Server> server,
                       IncomingResponse response, Options options)
    : server_(std::move(server)),
      response_(std::move(response)),
      options_(std::move(options)) {}

LineStream::~LineStream() {
  if (!response_.body) return;
  PostToIoThread([body = std::move(response_.body)] { body->Close(); });
}

std::optional<std::string> LineStream::ReadLine() {
  std::size_t searched = line_;
  std::size_t end = 0;
  while ((end = read_.find('\n', searched)) == std::string::npos) {
    CheckLine(read_.size() - line_);
    read_.erase(0, std::exchange(line_, 0));
    searched = read_.size();
    if (ReadMore()) continue;
    if (read_.empty()) return std::nullopt;
    return std::exchange(read_, "");
  }
  CheckLine(end - line_);
  std::string line = read_.substr(line_, end - line_);
  line_ = end + 1;
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

void LineStream::SetReadDelay(std::chrono::milliseconds delay, Clock& clock) {
  read_delay_ = delay;
  clock_ = &clock;
}

void LineStream::CheckLine(std::size_t size) const {
  if (size > options_.max_line) {
    throw server_->errors->TooLarge("a line of the response is longer than ",
                                    options_.max_line);
  }
}

bool LineStream::ReadMore() {
  if (!response_.body) return false;
  if (!has_more_ && read_delay_ > std::chrono::milliseconds(0)) {
    clock_->SleepFor(read_delay_, options_.stop);
  }
  const Part part = Await<Part>([this](const auto& done) {
    Operation<Part>::Start(
        {.stop = options_.stop,
         .send_timeout = options_.idle_timeout,
         .timeout = options_.idle_timeout,
         .errors = server_->errors},
        [body = response_.body](const auto& reading) {
          reading->MarkSent();  // the request was sent before
          body->Read([reading](ClientResult<Part> result) {
            reading->Finish(std::move(result));
          });
        },
        [body = response_.body, done](ClientResult<Part> result) {
          if (!result) body->Close();
          done(std::move(result));
        });
  });
  read_ += part.bytes;
  has_more_ = part.has_more;
  return !part.bytes.empty();
}

}  // namespace minisched
