#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace minisched {

// A request that an HttpServer received.
struct ServerRequest {
  std::string method;
  std::string target;                          // path and query, still encoded
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  std::size_t connection = 0;  // the connection's number, counted from 0
  // With TLS: the server name that the client requested (SNI).
  std::string server_name;
  // With TLS: the common names of the client's own certificate and its chain.
  std::vector<std::string> client_certificates;
};

using ServerHeaders = std::vector<std::pair<std::string, std::string>>;

// The reply to one request. A handler may keep the reply and use it later, on
// any thread, while the server lives. Calls take effect in order; calls after
// the end of the connection have no effect.
class ServerReply {
 public:
  class Connection;
  explicit ServerReply(std::weak_ptr<Connection> connection);

  // Sends a whole response.
  void Send(int status, const std::string& body,
            const ServerHeaders& headers = {});

  // Send a response in parts: the head, each chunk of the body, the end.
  void Start(int status = 200, const ServerHeaders& headers = {});
  void Chunk(const std::string& data);
  void End();

  // Sends bytes without adding anything.
  void Raw(const std::string& bytes);

  // Close the connection after all output is written: Close() sends a FIN, and
  // Reset() sends an RST.
  void Close();
  void Reset();

 private:
  std::weak_ptr<Connection> connection_;
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free port
  // PEM. If set, the server uses TLS.
  std::string certificate = {};
  std::string key = {};
  // PEM of trusted authorities. If set, clients must present a certificate.
  std::string client_ca = {};
  // If true, the server accepts connections and reads, but answers no request.
  bool silent = false;
  // What a silent server sends on each new connection.
  std::string greeting = {};
};

// A small HTTP/1.1 server whose handler, written by the test, sends all
// replies. Listens on the address and the port of its options. The destructor
// closes all connections and ends the server's one thread. Thread-safe.
class HttpServer {
 public:
  // Called for each request on the server's thread; must not block. If the
  // handler drops the reply, the client gets no response.
  using Handler = std::function<void(const ServerRequest&, ServerReply)>;

  class Impl;

  explicit HttpServer(Handler handler, const ServerOptions& options = {});
  ~HttpServer();

  int port() const;
  // Returns a URL such as "https://127.0.0.1:1234".
  std::string url() const;

  // Returns all requests received so far.
  std::vector<ServerRequest> requests() const;
  // Return the number of open connections, and the number of all connections so
  // far.
  std::size_t open_connections() const;
  std::size_t accepted_connections() const;

  // Blocks until the server has received at least `count` requests. Returns
  // false after 20 s.
  [[nodiscard]] bool AwaitRequests(std::size_t count) const;
  // Blocks until exactly `count` connections are open. Returns false after
  // 20 s.
  [[nodiscard]] bool AwaitOpenConnections(std::size_t count) const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace minisched
