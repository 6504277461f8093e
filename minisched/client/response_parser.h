#pragma once

// For the client's own .cc files, because it includes Beast.

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "minisched/client/transport.h"

namespace minisched {

// The limit for a response's status line and headers together. An API server
// sends less than 1 KiB. Go's net/http has the same limit for requests, and a
// limit of 10 MiB for responses. The smaller limit is enough, and headers take
// several times their size in memory.
inline constexpr std::size_t kMaxHeadBytes = std::size_t{1} << 20;

// Parses one response, as its bytes come. Allocates memory only for bytes that
// have come, whatever size the response announces.
class ResponseParser : private boost::beast::http::basic_parser<false> {
 public:
  using error_code = boost::system::error_code;

  struct Options {
    // The largest body. For a stream that succeeds: the most bytes of the body
    // that were parsed and not yet taken.
    std::size_t max_body;
    bool is_stream = false;
    // The response to a HEAD request has no body, whatever its headers say.
    bool is_head = false;
  };
  explicit ResponseParser(const Options& options);

  // Parses the bytes of `input` that a read has added, and removes them.
  // `error` is the result of the read; at the end of the connection, `input`
  // must be empty. Returns why the response can't be read any further: `error`,
  // or an error of Beast.
  error_code Receive(error_code error, boost::beast::flat_buffer& input);

  // True if the parser has received a byte of the response.
  using basic_parser::got_some;
  // Returns 0 if the status line was not yet parsed.
  int status() const { return status_; }
  // True if the headers are complete, and if the response is.
  using basic_parser::is_done;
  using basic_parser::is_header_done;
  // True if the connection can be used again. REQUIRES: is_header_done().
  using basic_parser::keep_alive;

  // True if a part of a chunk has come, and the rest of it has not.
  bool is_within_chunk() const { return is_within_chunk_; }

  // Status and headers. The body is empty.
  HttpResponse TakeHead() {
    return {.status = status_, .headers = std::exchange(headers_, {})};
  }
  // Returns what was parsed of the body since the last call.
  std::string TakeBody() { return std::exchange(body_, ""); }

 private:
  using field = boost::beast::http::field;
  using string_view = boost::beast::string_view;

  // Beast calls these functions with the parts of the response.
  void on_request_impl(boost::beast::http::verb method, string_view method_text,
                       string_view target, int version,
                       error_code& error) override;
  void on_response_impl(int code, string_view reason, int version,
                        error_code& error) override;
  void on_field_impl(field name, string_view name_text, string_view value,
                     error_code& error) override;
  // Overrides a function of Boost 1.90, but of no older version.
  // NOLINTNEXTLINE(modernize-use-override)
  virtual void on_trailer_field_impl(field name, string_view name_text,
                                     string_view value, error_code& error);
  void on_header_impl(error_code& error) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>& length,
                         error_code& error) override;
  std::size_t on_body_impl(string_view body, error_code& error) override;
  void on_chunk_header_impl(std::uint64_t size, string_view extensions,
                            error_code& error) override;
  std::size_t on_chunk_body_impl(std::uint64_t remain, string_view body,
                                 error_code& error) override;
  void on_finish_impl(error_code& error) override;

  // Counts bytes of the headers. Sets the error if they are too many.
  void AddToHead(std::size_t size, error_code& error);

  const Options options_;
  int status_ = 0;
  std::size_t head_size_ = 0;
  bool is_within_chunk_ = false;
  std::map<std::string, std::string> headers_;
  std::string body_;
};

}  // namespace minisched
