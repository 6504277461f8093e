#pragma once

// For the client's own .cc files, because it includes Asio.

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <utility>

namespace minisched {

// Returns the event loop of all connections, which one thread runs. Only this
// thread uses a connection, even to cancel a request, because closing a socket
// that another thread reads from is a race. The first call starts the thread.
// At the program's exit, the thread ends, and abandons what is left in the
// loop.
boost::asio::io_context& IoContext();

// Makes a T that the I/O thread destroys, whichever thread drops the last
// reference.
template <class T, class... Args>
std::shared_ptr<T> MakeForIoThread(Args&&... args) {
  return std::shared_ptr<T>(new T(std::forward<Args>(args)...), [](T* object) {
    boost::asio::post(IoContext(), [object] { delete object; });
  });
}

}  // namespace minisched
