#include "minisched/client/exchange.h"

#include <charconv>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <utility>

namespace minisched {
namespace {

using Step = Connection::Error::Step;

// Throws if a header has a line break, which would end the header.
void CheckHeaders(const HttpRequest& request) {
  constexpr std::string_view kBreaks("\r\n\0", 3);
  for (const auto& [name, value] : request.headers) {
    if (name.find_first_of(kBreaks) != std::string::npos ||
        value.find_first_of(kBreaks) != std::string::npos) {
      // Without the value, which may be a token.
      throw std::invalid_argument("the header " + name + " has a line break");
    }
  }
}

// Returns the Content-Length; 0 if the response has none. Throws if it is not a
// number: cpprestsdk would take it for another one.
std::uint64_t ContentLength(const HttpResponse& head) {
  const auto header = head.headers.find("content-length");
  if (header == head.headers.end()) return 0;
  const std::string& text = header->second;
  std::uint64_t length = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, length);
  if (error != std::errc() || parsed != end) {
    throw std::runtime_error("malformed response: invalid Content-Length");
  }
  return length;
}

}  // namespace

Exchange::Exchange(std::shared_ptr<const Server> server, HttpRequestPtr request,
                   bool is_stream)
    : server_(std::move(server)),
      request_(std::move(request)),
      is_stream_(is_stream) {}

void Exchange::Start(std::function<void()> on_send,
                     ClientCallback<IncomingResponse> done) {
  request_->WaitsFor("a connection");
  CheckHeaders(*request_);
  target_ = TargetOf(server_->address, *request_);
  on_send_ = std::move(on_send);
  done_ = std::move(done);
  Begin();
}

void Exchange::Abort() {
  done_ = nullptr;
  on_send_ = nullptr;
  if (connection_) std::exchange(connection_, nullptr)->Close();
}

template <class Step>
void Exchange::Try(const Step& step) {
  if (!done_) return;  // aborted
  try {
    step();
  } catch (const TransportError& error) {
    Fail(error);
  } catch (const std::exception& error) {
    Fail(server_->errors->Other(error.what()));
  }
}

void Exchange::Begin() {
  connection_ = server_->pool->Take();
  was_kept_ = connection_ != nullptr;
  if (was_kept_) return Send();
  Resolve(server_->address.host, server_->address.port,
          [self = shared_from_this()](const Addresses& addresses) {
            self->Try([&] {
              if (addresses.empty()) throw self->server_->errors->NoSuchHost();
              self->addresses_ = addresses;
              self->ConnectToNext();
            });
          });
}

void Exchange::ConnectToNext() {
  const auto address = addresses_.front();
  addresses_.erase(addresses_.begin());
  connection_ = MakeConnection(address, server_->tls);
  Send();
}

void Exchange::Send() {
  connection_->Send(*request_, target_, server_->address.authority,
                    shared_from_this());
}

void Exchange::OnSent() {
  Try([this] {
    on_send_();
    request_->WaitsFor("the response");
  });
}

void Exchange::OnHead(HttpResponse head) {
  Try([&] {
    response_.head = std::move(head);
    CheckHead();
    if (!is_stream_ || !IsSuccess(response_.head.status)) return;
    response_.body = std::make_shared<StreamBody>(
        server_, std::exchange(connection_, nullptr));
    Finish(response_);
  });
}

// Throws if the response can't be read.
void Exchange::CheckHead() const {
  const int status = response_.head.status;
  if (status / 100 == 1) {
    // cpprestsdk takes this for the whole response.
    throw std::runtime_error("interim responses are not supported: status " +
                             std::to_string(status));
  }
  const bool has_limit =
      request_->method != "HEAD" && !(is_stream_ && IsSuccess(status));
  if (ContentLength(response_.head) > server_->max_response && has_limit) {
    throw server_->errors->ResponseTooLarge();
  }
}

void Exchange::OnBytes(std::string_view body) {
  if (response_.body) return response_.body->Append(body);
  Try([&] {
    std::string& whole = response_.head.body;
    if (body.size() > server_->max_response - whole.size()) {
      throw server_->errors->ResponseTooLarge();
    }
    whole += body;
  });
}

void Exchange::OnEnd() {
  if (response_.body) return response_.body->End();
  Try([this] {
    server_->pool->Return(std::exchange(connection_, nullptr));
    Finish(std::move(response_));
  });
}

void Exchange::OnError(const Connection::Error& error) {
  const int status = response_.head.status;
  if (response_.body) {
    return response_.body->Fail(server_->errors->Explain(error, status));
  }
  Try([&] {
    const bool is_unsent =
        error.step == Step::kReuse || error.step == Step::kConnect;
    if (is_unsent && was_kept_) return Begin();
    if (is_unsent && !addresses_.empty()) return ConnectToNext();
    throw server_->errors->Explain(error, status);
  });
}

void Exchange::Finish(IncomingResponse response) {
  on_send_ = nullptr;
  std::exchange(done_, nullptr)(std::move(response));
}

void Exchange::Fail(const TransportError& error) {
  const auto done = std::exchange(done_, nullptr);
  Abort();
  if (done) done(tl::make_unexpected(ClientError(error)));
}

}  // namespace minisched
