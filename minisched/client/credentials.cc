#include "minisched/client/credentials.h"

#include <utility>

#include "minisched/base/mutex.h"
#include "minisched/client/config_files.h"
#include "minisched/client/errors.h"
#include "minisched/client/exec_authenticator.h"

namespace minisched {
namespace {

constexpr int kUnauthorized = 401;

// A certificate, a token, a file with a token, or nothing.
class StaticCredentials final : public Credentials {
 public:
  explicit StaticCredentials(const RestConfig& config)
      : file_(config.bearer_token_file),
        credential_(std::make_shared<Credential>(
            Credential{.token = config.bearer_token,
                       .transport = std::make_shared<Transport>(config)})) {}

 private:
  std::string name() const override { return "credentials"; }

  void GetAsync(std::stop_token /*stop*/,
                ClientCallback<CredentialPtr> done) override {
    done(Get());
  }

  bool Replace(const CredentialPtr& /*refused*/) override { return false; }

  ClientResult<CredentialPtr> Get() EXCLUDES(mu_) {
    MutexLock lock(mu_);
    if (file_.empty()) return credential_;
    // Tokens in files are rotated. Reading the file for each request costs less
    // than finding out whether it has changed.
    try {
      const std::string where = "token file " + file_;
      credential_ = std::make_shared<Credential>(
          Credential{.token = ParseToken(ReadFile(file_, where), where),
                     .transport = credential_->transport});
    } catch (const ConfigError& error) {
      // The file may be being replaced: the old token may still be valid.
      if (credential_->token.empty()) {
        return tl::make_unexpected(ClientError(error));
      }
    }
    return credential_;
  }

  const std::string file_;
  Mutex mu_;
  CredentialPtr credential_ GUARDED_BY(mu_);  // the last one known
};

// Returns the request with the token, if there is one.
HttpRequestPtr Authorized(const HttpRequestPtr& request,
                          const std::string& token) {
  if (token.empty()) return request;
  const auto authorized = std::make_shared<HttpRequest>(*request);
  authorized->headers["Authorization"] = "Bearer " + token;
  return authorized;
}

}  // namespace

std::unique_ptr<Credentials> Credentials::Make(const RestConfig& config,
                                               Clock& clock) {
  if (!config.exec || !config.bearer_token.empty() ||
      !config.bearer_token_file.empty() ||
      !config.client_certificate_data.empty()) {
    return std::make_unique<StaticCredentials>(config);
  }
  return std::make_unique<ExecAuthenticator>(config, clock);
}

void Credentials::SendAsync(HttpRequestPtr request, Send send,
                            std::stop_token stop,
                            ClientCallback<HttpResponse> done) {
  TryAsync(std::move(request), std::move(send), true, std::move(stop),
           std::move(done));
}

void Credentials::TryAsync(HttpRequestPtr request, Send send, bool is_first,
                           std::stop_token stop,
                           ClientCallback<HttpResponse> done) {
  request->WaitsFor(name());
  GetAsync(stop, [this, request = std::move(request), send = std::move(send),
                  is_first, stop,
                  done = std::move(done)](ClientResult<CredentialPtr> got) {
    if (!got) return done(tl::make_unexpected(std::move(got).error()));
    const CredentialPtr credential = *std::move(got);
    send(*credential->transport, Authorized(request, credential->token), stop,
         [this, request, send, is_first, stop, done,
          credential](ClientResult<HttpResponse> result) {
           const bool refused = result && result->status == kUnauthorized;
           if (refused && is_first && Replace(credential)) {
             TryAsync(request, send, false, stop, done);
           } else {
             done(std::move(result));
           }
         });
  });
}

}  // namespace minisched
