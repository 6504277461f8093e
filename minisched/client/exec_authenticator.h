#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/client/credentials.h"
#include "minisched/client/exec_credential.h"
#include "minisched/client/rest_config.h"
#include "minisched/client/result.h"
#include "minisched/client/transport.h"

namespace minisched {

// Credentials that the program of RestConfig::exec prints. The program runs on
// a thread of its own, when a request needs a credential and the last one has
// expired or was refused. All requests that wait share a run. If it fails, they
// fail, and the next request starts another one.
//
// If the program prints another certificate, later requests use new
// connections, and the old ones are closed when the requests and watches on
// them have ended.
//
// Follows Authenticator in client-go plugin/pkg/client/auth/exec/exec.go, which
// closes the old connections at once.
class ExecAuthenticator final : public Credentials {
 public:
  // Throws ConfigError. Does not run the program.
  ExecAuthenticator(const RestConfig& config, Clock& clock);

  // Kills the program if it runs.
  ~ExecAuthenticator() override;

 private:
  // A request that waits for the program.
  class Waiter;

  std::string name() const override;
  void GetAsync(std::stop_token stop,
                ClientCallback<CredentialPtr> done) override EXCLUDES(mu_);
  bool Replace(const CredentialPtr& refused) override EXCLUDES(mu_);

  // Returns the last credential; null if a new one is needed.
  CredentialPtr Current() REQUIRES(mu_);

  // The thread: runs the program whenever a request waits.
  void RunPlugin(const std::stop_token& stop) EXCLUDES(mu_);
  ClientResult<CredentialPtr> Obtain(const std::stop_token& stop);
  // Returns the transport for what the program has printed.
  std::shared_ptr<Transport> TransportFor(const ExecCredential& printed);

  const RestConfig config_;
  Clock& clock_;
  const std::shared_ptr<Transport> transport_;  // without a certificate

  // For the thread only: the last certificate and its key, and their transport.
  RestConfig certified_;
  std::shared_ptr<Transport> certified_transport_;

  Mutex mu_;
  CondVar wanted_;
  std::vector<std::shared_ptr<Waiter>> waiters_ GUARDED_BY(mu_);
  CredentialPtr credential_ GUARDED_BY(mu_);  // null: none, or refused

  std::jthread thread_;  // last: it uses the others
};

}  // namespace minisched
