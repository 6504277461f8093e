#pragma once

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "minisched/http/http_server.h"

namespace minisched::http {

// One connection. It is open as long as it is in the server's sessions_.
class HttpServer::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(HttpServer& server, boost::asio::ip::tcp::socket socket);
  ~Session();

  void Start();
  // Ends the connection because the server closes. A response in progress is
  // completed.
  void Close();
  // Closes the connection at once, as if it were lost.
  void BreakOff();

 private:
  using error_code = boost::system::error_code;
  class Parser;
  class Ticket;

  // Runs one step of the connection and calls Fail() if the step throws. Each
  // request is then answered, or its connection is closed. All callbacks that
  // may throw go through Try() or Then().
  template <class Step>
  void Try(const Step& step) {
    try {
      step();
    } catch (const std::exception& error) {
      Fail(error);
    }
  }

  // Returns a completion handler that runs a step through Try(). The handler
  // keeps the session alive.
  auto Then(void (Session::*step)(error_code, std::size_t)) {
    return [self = shared_from_this(), step](error_code error, std::size_t n) {
      self->Try([&] { ((*self).*step)(error, n); });
    };
  }

  // Returns the request's method and path, as they appear in the log.
  std::string Shown() const;
  // Answers with a 500, or closes the connection if a response has begun.
  void Fail(const std::exception& error);

  // Reads the next request.
  void Read();
  void OnHeader(error_code error, std::size_t size);
  // Sends 100 Continue to a client that waits for this before it sends the
  // body.
  void SendContinue();
  void OnContinued(error_code error, std::size_t size);
  void ReadBody();
  void OnRequest(error_code error, std::size_t size);
  // Refuses a request that can't be read, or closes the connection if it is
  // lost.
  void OnReadError(error_code error);
  // Answers without reading the rest of the request, and ends the connection.
  void Refuse(Reply reply);
  void Handle();
  // Starts to read, in order to detect a disconnect while the client waits for
  // a response or for the next part of a stream. Read() gets the bytes that
  // arrive, because they stay in the buffer.
  void AwaitDisconnect();
  void OnReadAhead(error_code error, std::size_t size);
  // Cancels the read of AwaitDisconnect() before a response ends, so that
  // Read() can start. The bytes that have already arrived stay in the buffer.
  void StopAwaitingDisconnect();

  void Answer(Reply reply);
  void StartStream();
  void OnStarted(error_code error, std::size_t size);
  // Sends the part of the response that is ready. If no part is ready, on_ready
  // or AwaitPeriod() schedules another call of Write().
  void Write();
  void AwaitPeriod();
  void OnWritten(error_code error, std::size_t size);
  // Reads and drops what the client still sends, and then closes the
  // connection. The client may still be sending a refused body. It could lose
  // the response if the connection were closed at once.
  void DrainAndClose();
  void Drain();
  void OnDrained(error_code error, std::size_t size);

  HttpServer& server_;
  boost::beast::tcp_stream stream_;
  boost::asio::steady_timer timer_;  // for the period of a stream
  boost::beast::flat_buffer buffer_;
  std::unique_ptr<Parser> parser_;
  boost::beast::http::response<boost::beast::http::buffer_body> response_;
  std::optional<
      boost::beast::http::response_serializer<boost::beast::http::buffer_body>>
      serializer_;
  Reply reply_;           // its body is the part being sent
  bool waiting_ = false;  // for the handler's response
  bool awaiting_disconnect_ = false;
  bool begun_ = false;  // part of the response may have been sent
  bool writing_ = false;
  bool closing_ = false;  // the connection ends after this response
};

}  // namespace minisched::http
