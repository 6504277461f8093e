#include "minisched/client/exec_authenticator.h"

#include <functional>
#include <optional>
#include <utility>

#include "minisched/client/errors.h"
#include "minisched/client/exec_plugin.h"

namespace minisched {
namespace {

// Returns the configuration of connections with a certificate. Its errors name
// the program.
RestConfig Certified(const RestConfig& config) {
  RestConfig certified = config;
  certified.source = config.exec->source + ": exec";
  return certified;
}

}  // namespace

class ExecAuthenticator::Waiter : public std::enable_shared_from_this<Waiter> {
 public:
  explicit Waiter(ClientCallback<CredentialPtr> done)
      : done_(std::move(done)) {}

  // Makes the request end when `stop` asks to stop: at once if it has already.
  // Called once, before any other thread has the waiter.
  void EndOn(const std::stop_token& stop) {
    on_stop_.emplace(stop, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        self->End(tl::make_unexpected(ClientError(Cancelled())));
      }
    });
  }

  // Ends the request with the program's result, unless it was stopped.
  void Finish(const ClientResult<CredentialPtr>& result) {
    on_stop_.reset();
    End(result);
  }

 private:
  void End(const ClientResult<CredentialPtr>& result) EXCLUDES(mu_) {
    ClientCallback<CredentialPtr> done;
    {
      MutexLock lock(mu_);
      done = std::exchange(done_, nullptr);
    }
    if (done) done(result);
  }

  Mutex mu_;
  ClientCallback<CredentialPtr> done_ GUARDED_BY(mu_);  // empty once called
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

ExecAuthenticator::ExecAuthenticator(const RestConfig& config, Clock& clock)
    : config_(config),
      clock_(clock),
      transport_(std::make_shared<Transport>(config)),
      certified_(Certified(config)),
      thread_([this](const std::stop_token& stop) { RunPlugin(stop); }) {}

ExecAuthenticator::~ExecAuthenticator() = default;

std::string ExecAuthenticator::name() const {
  return ExecCommandName(*config_.exec);
}

void ExecAuthenticator::GetAsync(std::stop_token stop,
                                 ClientCallback<CredentialPtr> done) {
  CredentialPtr current;
  {
    MutexLock lock(mu_);
    current = Current();
  }
  if (current) return done(current);

  const auto waiter = std::make_shared<Waiter>(std::move(done));
  waiter->EndOn(stop);
  if (stop.stop_requested()) {  // so the program need not run
    return waiter->Finish(tl::make_unexpected(ClientError(Cancelled())));
  }
  {
    MutexLock lock(mu_);
    current = Current();  // which may have come meanwhile
    if (!current) waiters_.push_back(waiter);
    wanted_.NotifyOne();
  }
  if (current) waiter->Finish(current);
}

bool ExecAuthenticator::Replace(const CredentialPtr& refused) {
  MutexLock lock(mu_);
  // Another request may already have replaced the credential.
  if (credential_ == refused) credential_.reset();
  return true;
}

CredentialPtr ExecAuthenticator::Current() {
  const bool expired = credential_ && credential_->expiration &&
                       clock_.WallNow() > *credential_->expiration;
  return expired ? nullptr : credential_;
}

void ExecAuthenticator::RunPlugin(const std::stop_token& stop) {
  while (true) {
    {
      MutexLock lock(mu_);
      while (waiters_.empty() && !stop.stop_requested()) {
        wanted_.Wait(mu_, stop);
      }
    }
    if (stop.stop_requested()) return;
    const ClientResult<CredentialPtr> result = Obtain(stop);
    std::vector<std::shared_ptr<Waiter>> waiters;
    {
      MutexLock lock(mu_);
      if (result) credential_ = *result;
      waiters.swap(waiters_);
    }
    for (const auto& waiter : waiters) waiter->Finish(result);
  }
}

ClientResult<CredentialPtr> ExecAuthenticator::Obtain(
    const std::stop_token& stop) {
  try {
    const ExecCredential printed = RunExecPlugin(config_, stop);
    return std::make_shared<const Credential>(
        Credential{.token = printed.token,
                   .transport = TransportFor(printed),
                   .expiration = printed.expiration});
  } catch (const ConfigError& error) {
    return tl::make_unexpected(ClientError(error));
  } catch (const Cancelled&) {
    return tl::make_unexpected(ClientError(Cancelled()));
  }
}

std::shared_ptr<Transport> ExecAuthenticator::TransportFor(
    const ExecCredential& printed) {
  if (printed.client_certificate_data.empty()) return transport_;
  if (!certified_transport_ ||
      printed.client_certificate_data != certified_.client_certificate_data ||
      printed.client_key_data != certified_.client_key_data) {
    certified_transport_.reset();
    certified_.client_certificate_data = printed.client_certificate_data;
    certified_.client_key_data = printed.client_key_data;
    certified_transport_ = std::make_shared<Transport>(certified_);
  }
  return certified_transport_;
}

}  // namespace minisched
