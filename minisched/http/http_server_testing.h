#pragma once

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read_until.hpp>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "minisched/http/http_server.h"
#include "minisched/http/http_testing.h"

namespace minisched::http {

// A stream whose text and end the test sets.
class TestStream : public Stream {
 public:
  bool Read(std::string& out) override {
    if (failing) throw std::runtime_error("no more");
    out += text;
    text.clear();
    return !ended;
  }
  bool broken_off() const override { return broken; }
  std::string text;
  bool ended = false;
  bool broken = false;
  bool failing = false;
};

// A server on a thread of its own. /later, /stream, /throw and so on make it
// answer in special ways.
class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest()
      : server_(
            io_, {},
            [this](const Request& request, const HttpServer::Respond& respond) {
              if (request.path == "/later") {
                respond_ = respond;
              } else {
                respond(Answer(request));
              }
            }),
        thread_([this] { io_.run(); }) {}
  ~HttpServerTest() override {
    asio::post(io_, [this] {
      server_.Close();
      io_.stop();
    });
    thread_.join();
  }

  // Called on the loop's thread.
  Reply Answer(const Request& request) {
    Reply reply;
    if (request.path == "/stream") {
      auto stream = std::make_unique<TestStream>();
      stream_ = stream.get();
      if (!request.query.contains("empty")) stream->text = "first\n";
      if (request.query.contains("polled")) {
        stream->period = std::chrono::milliseconds(1);
      }
      stream->broken = request.Query("broken") == "true";
      reply.stream = std::move(stream);
      return reply;
    }
    if (request.path == "/status") {
      reply.status = std::stoi(request.query.begin()->first);
      return reply;
    }
    if (request.path == "/throw") throw std::runtime_error("out of order");
    if (request.path == "/header") {
      reply.headers.emplace_back("Warning", std::string(1 << 16, 'x'));
    }
    if (request.path == "/sent") {
      reply.on_sent = [] { throw std::runtime_error("sent"); };
    }
    if (request.path == "/drop") reply.delivery = Reply::Delivery::kDropped;
    if (request.path == "/hang") reply.delivery = Reply::Delivery::kWithheld;
    reply.body = request.method + " " + request.path + " " + request.body;
    return reply;
  }

  asio::ip::tcp::socket Connect() {
    return http::Connect(client_, server_.url());
  }

  std::string Exchange(const std::string& request) {
    return http::Exchange(server_.url(), request);
  }

  // Requests `path`, sends `more` before there is a response, disconnects, and
  // waits until the server has closed the connection.
  void RequestAndDisconnect(const std::string& path,
                            const std::string& more = "") {
    {
      auto socket = Connect();
      Send(socket, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
      Until([this] { return !server_.idle(); });
      Send(socket, more);
    }
    Until([this] { return server_.idle(); });
  }

  // Waits until the condition is true. Evaluates it on the loop's thread.
  void Until(const std::function<bool()>& condition) {
    for (bool met = false; !met; std::this_thread::yield()) {
      std::promise<bool> answer;
      asio::post(io_, [&] { answer.set_value(condition()); });
      met = answer.get_future().get();
    }
  }

  asio::io_context io_;
  asio::io_context client_;
  TestStream* stream_ = nullptr;
  HttpServer::Respond respond_;
  HttpServer server_;
  std::jthread thread_;
};

}  // namespace minisched::http
