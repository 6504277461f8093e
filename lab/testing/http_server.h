#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace minisched {

// What a test's server was asked.
struct ServerRequest {
  std::string method;
  std::string target;  // path and query, encoded as they came
  // Names in lower case.
  std::map<std::string, std::string> headers;
  std::string body;

  // Of the connection that it came on: a number, counted from 0 up, and, with
  // TLS, the server name that the client asked for (SNI) and the common names
  // of the certificates it showed, its own first.
  std::size_t connection = 0;
  std::string server_name;
  std::vector<std::string> client_certificates;
};

using ServerHeaders = std::vector<std::pair<std::string, std::string>>;

// The answer to one request. May be kept, and used from any thread, as long as
// its server lives; what is asked of it is done in that order. What comes after
// the end of the connection is ignored.
class ServerReply {
 public:
  class Connection;
  explicit ServerReply(std::weak_ptr<Connection> connection);

  // A whole answer.
  void Send(int status, const std::string& body,
            const ServerHeaders& headers = {});

  // An answer in pieces: its head, chunk by chunk its body, its end.
  void Start(int status = 200, const ServerHeaders& headers = {});
  void Chunk(const std::string& data);
  void End();

  // These very bytes.
  void Raw(const std::string& bytes);

  // Ends the connection once all of the above is written: in order (FIN), or
  // with a reset (RST).
  void Close();
  void Reset();

 private:
  std::weak_ptr<Connection> connection_;
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  // PEM; with them the server speaks TLS.
  std::string certificate = {};
  std::string key = {};
  // PEM of whom to trust; with it the client must show a certificate.
  std::string client_ca = {};
  // Accept connections, read what comes, and never say a word; but for this
  // greeting, where there is one.
  bool silent = false;
  std::string greeting = {};
};

// A small HTTP/1.1 server whose answers a test writes. Listens on loopback, on
// a port of its own. Thread-safe. Its one thread ends, and the connections with
// it, when it is destroyed.
class HttpServer {
 public:
  // Called for each request, on the server's thread: must not block. A reply
  // that is not used leaves the client waiting.
  using Handler = std::function<void(const ServerRequest&, ServerReply)>;

  class Impl;

  explicit HttpServer(Handler handler, const ServerOptions& options = {});
  ~HttpServer();

  int port() const;
  // "https://127.0.0.1:1234".
  std::string url() const;

  // All requests up to now.
  std::vector<ServerRequest> requests() const;
  // Connections that neither side has ended, and all that there ever were.
  std::size_t open_connections() const;
  std::size_t accepted_connections() const;

  // Block until there have been `count` requests, or there are exactly `count`
  // open connections. Return false if that does not come within 20 s.
  [[nodiscard]] bool AwaitRequests(std::size_t count) const;
  [[nodiscard]] bool AwaitOpenConnections(std::size_t count) const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace minisched
