#include "minisched/client/transport.h"

#include <utility>

#include "minisched/base/file_limit.h"
#include "minisched/client/errors.h"
#include "minisched/client/exchange.h"
#include "minisched/client/io_thread.h"
#include "minisched/client/line_stream.h"
#include "minisched/client/operation.h"
#include "minisched/client/server.h"
#include "minisched/client/server_address.h"
#include "minisched/client/tls.h"
#include "minisched/client/transport_errors.h"

namespace minisched {
namespace {

using std::chrono::milliseconds;

std::shared_ptr<const Server> MakeServer(const RestConfig& config) {
  const ServerAddress address =
      ParseServerAddress(config.server, config.source);
  // Also if the server has no TLS: checks the certificates.
  const auto tls = std::make_shared<const Tls>(config, address);
  return std::make_shared<Server>(
      Server{.address = address,
             .tls = address.is_https ? tls : nullptr,
             .pool = MakeForIoThread<ConnectionPool>(),
             .errors = std::make_shared<TransportErrors>(
                 config.server, config.max_response_bytes),
             .max_response = config.max_response_bytes});
}

}  // namespace

class Transport::Impl {
 public:
  explicit Impl(const RestConfig& config)
      : server_(MakeServer(config)),
        connect_timeout_(config.connect_timeout),
        request_timeout_(config.request_timeout),
        max_line_(config.max_line_bytes),
        gate_(std::make_shared<RequestGate>(config.max_in_flight)) {}

  void SendAsync(HttpRequestPtr request, std::stop_token stop,
                 ClientCallback<HttpResponse> done) {
    OperationOptions options = RequestOptions(std::move(stop));
    options.gate = gate_;
    Start(std::move(request), /*is_stream=*/false, std::move(options),
          [done = std::move(done)](ClientResult<IncomingResponse> result) {
            if (!result) {
              return done(tl::make_unexpected(std::move(result).error()));
            }
            done(std::move(result->head));
          });
  }

  void OpenAsync(HttpRequestPtr request, milliseconds idle_timeout,
                 const std::stop_token& stop,
                 ClientCallback<std::unique_ptr<HttpStream>> done) {
    Start(std::move(request), /*is_stream=*/true, RequestOptions(stop),
          [server = server_,
           options = LineStream::Options{.max_line = max_line_,
                                         .idle_timeout = idle_timeout,
                                         .stop = stop},
           done = std::move(done)](ClientResult<IncomingResponse> result) {
            if (!result) {
              return done(tl::make_unexpected(std::move(result).error()));
            }
            done(std::make_unique<LineStream>(server, *std::move(result),
                                              options));
          });
  }

 private:
  OperationOptions RequestOptions(std::stop_token stop) const {
    return {.stop = std::move(stop),
            .send_timeout = connect_timeout_,
            .timeout = request_timeout_,
            .errors = server_->errors};
  }

  void Start(HttpRequestPtr request, bool is_stream, OperationOptions options,
             ClientCallback<IncomingResponse> done) const {
    const auto exchange =
        std::make_shared<Exchange>(server_, std::move(request), is_stream);
    Operation<IncomingResponse>::Start(
        std::move(options),
        [exchange](const auto& sending) {
          exchange->Start([sending] { sending->MarkSent(); },
                          [sending](ClientResult<IncomingResponse> result) {
                            sending->Finish(std::move(result));
                          });
        },
        // Weak, because the exchange holds the operation: at exit, what holds
        // the exchange is destroyed, and neither of them ends.
        [weak = std::weak_ptr<Exchange>(exchange),
         done = std::move(done)](ClientResult<IncomingResponse> result) {
          const auto failed = result ? nullptr : weak.lock();
          if (failed) failed->Abort();
          done(std::move(result));
        });
  }

  const std::shared_ptr<const Server> server_;
  const milliseconds connect_timeout_;
  const milliseconds request_timeout_;
  const std::size_t max_line_;
  const std::shared_ptr<RequestGate> gate_;
};

Transport::Transport(const RestConfig& config)
    : impl_(std::make_unique<Impl>(config)) {
  RaiseFileLimit();
}

Transport::~Transport() = default;

void Transport::SendAsync(HttpRequestPtr request, std::stop_token stop,
                          ClientCallback<HttpResponse> done) {
  impl_->SendAsync(std::move(request), std::move(stop), std::move(done));
}

void Transport::OpenAsync(HttpRequestPtr request, milliseconds idle_timeout,
                          std::stop_token stop,
                          ClientCallback<std::unique_ptr<HttpStream>> done) {
  impl_->OpenAsync(std::move(request), idle_timeout, stop, std::move(done));
}

HttpResponse Transport::Send(const HttpRequest& request, std::stop_token stop) {
  return Await<HttpResponse>([&](auto done) {
    SendAsync(std::make_shared<HttpRequest>(request), std::move(stop),
              std::move(done));
  });
}

std::unique_ptr<HttpStream> Transport::Open(const HttpRequest& request,
                                            milliseconds idle_timeout,
                                            std::stop_token stop) {
  return Await<std::unique_ptr<HttpStream>>([&](auto done) {
    OpenAsync(std::make_shared<HttpRequest>(request), idle_timeout,
              std::move(stop), std::move(done));
  });
}

}  // namespace minisched
