#include "minisched/client/connection_pool.h"

#include <utility>

namespace minisched {
ConnectionPool::ConnectionPool(ServerAddress server,
                               std::shared_ptr<const Tls> tls,
                               std::chrono::milliseconds keep_for)
    : server_(std::move(server)), tls_(std::move(tls)), keep_for_(keep_for) {}

std::shared_ptr<Connection> ConnectionPool::Take() {
  while (!kept_.empty()) {
    const auto connection = std::move(kept_.back().connection);
    kept_.pop_back();
    if (connection->IsUsable()) return connection;
    connection->Close();
  }
  return nullptr;
}

std::shared_ptr<Connection> ConnectionPool::Make() const {
  return std::make_shared<Connection>(server_, tls_);
}

void ConnectionPool::Return(std::shared_ptr<Connection> connection,
                            bool keep_alive) {
  if (!keep_alive || !connection->IsUsable()) return connection->Close();
  kept_.push_back({std::move(connection), std::chrono::steady_clock::now()});
  if (!std::exchange(closes_old_, true)) CloseOldLater();
}

void ConnectionPool::CloseOldLater() {
  timer_.expires_after(keep_for_);
  timer_.async_wait([weak = weak_from_this()](const auto& error) {
    const auto self = weak.lock();
    if (!error && self) self->CloseOld();
  });
}

void ConnectionPool::CloseOld() {
  const TimePoint oldest = std::chrono::steady_clock::now() - keep_for_;
  std::erase_if(kept_, [oldest](const Kept& kept) {
    return kept.since < oldest || !kept.connection->IsUsable();
  });
  closes_old_ = !kept_.empty();
  if (closes_old_) CloseOldLater();
}

}  // namespace minisched
