#pragma once

// For the client's own .cc files, because it includes Asio.

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <utility>

namespace minisched {

// Returns the event loop of all connections, which is cpprestsdk's. One thread
// runs the loop, and only this thread uses a connection, even to cancel a
// request, because closing a socket that another thread reads from is a race.
// The first call starts the thread. At the program's exit, the thread abandons
// its tasks and ends, and what is left in the loop is destroyed.
boost::asio::io_context& IoContext();

// Calls a function on the I/O thread, and logs its exceptions: in cpprestsdk's
// loop, they would end the program. Does nothing if the thread has ended.
void PostToIoThread(std::function<void()> function);

// Makes a T that the I/O thread destroys, whichever thread drops the last
// reference.
template <class T, class... Args>
std::shared_ptr<T> MakeForIoThread(Args&&... args) {
  IoContext();  // made first, so destroyed after a static object
  return std::shared_ptr<T>(new T(std::forward<Args>(args)...), [](T* object) {
    PostToIoThread([owner = std::shared_ptr<T>(object)] {});
  });
}

// A task that cpprestsdk would leak if the I/O thread ended first. So at exit,
// the thread abandons the tasks that have begun, and ends when they have ended.
// Used on the I/O thread.
class IoTask {
 public:
  IoTask(const IoTask&) = delete;
  IoTask& operator=(const IoTask&) = delete;

  // Makes the task end soon, without a callback.
  virtual void Abandon() = 0;

 protected:
  IoTask() = default;
  ~IoTask() = default;

  // Returns false at exit: then the task must not begin.
  [[nodiscard]] bool Begin();
  void End();
};

}  // namespace minisched
