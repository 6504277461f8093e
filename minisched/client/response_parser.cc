#include "minisched/client/response_parser.h"

#include <boost/asio/error.hpp>
#include <boost/beast/http/error.hpp>
#include <cctype>
#include <limits>

namespace minisched {

using HttpError = boost::beast::http::error;

ResponseParser::ResponseParser(const Options& options) : options_(options) {
  eager(true);  // parse all of the input, not only the headers
  skip(options.is_head);
  // This class has limits of its own. Beast's limit for headers applies to each
  // read alone if the reads end where the fields end, and its limit for bodies
  // applies to streams too.
  header_limit(kMaxHeadBytes);
  body_limit(std::numeric_limits<std::uint64_t>::max());
}

ResponseParser::error_code ResponseParser::Receive(
    error_code error, boost::beast::flat_buffer& input) {
  if (error == boost::asio::error::eof) {
    if (!got_some()) return HttpError::end_of_stream;
    put_eof(error);
    return error;
  }
  if (error || input.size() == 0) return error;
  input.consume(put(input.data(), error));
  if (error != HttpError::need_more) return error;
  // These bytes are headers, trailers, or the line before a chunk.
  if (input.size() > kMaxHeadBytes) return HttpError::header_limit;
  return {};
}

void ResponseParser::on_request_impl(boost::beast::http::verb /*method*/,
                                     string_view /*method_text*/,
                                     string_view /*target*/, int /*version*/,
                                     error_code& /*error*/) {}

void ResponseParser::on_response_impl(int code, string_view reason,
                                      int /*version*/, error_code& error) {
  status_ = code;
  AddToHead(reason.size(), error);
}

void ResponseParser::on_field_impl(field /*name*/, string_view name_text,
                                   string_view value, error_code& error) {
  if (is_header_done()) return;  // a trailer
  AddToHead(name_text.size() + value.size(), error);
  if (error) return;
  std::string lower(name_text.data(), name_text.size());
  for (char& c : lower) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  std::string& text = headers_[lower];
  if (!text.empty()) text += ", ";
  text.append(value.data(), value.size());
}

void ResponseParser::on_trailer_field_impl(field /*name*/,
                                           string_view /*name_text*/,
                                           string_view /*value*/,
                                           error_code& /*error*/) {}

void ResponseParser::on_header_impl(error_code& error) {
  const bool succeeds_as_stream = options_.is_stream && IsSuccess(status_);
  if (is_done() || succeeds_as_stream) return;
  if (content_length().value_or(0) > options_.max_body) {
    error = HttpError::body_limit;
  }
}

void ResponseParser::on_body_init_impl(
    const boost::optional<std::uint64_t>& /*length*/, error_code& /*error*/) {}

std::size_t ResponseParser::on_body_impl(string_view body, error_code& error) {
  if (body.size() > options_.max_body - body_.size()) {
    error = HttpError::body_limit;
    return 0;
  }
  body_.append(body.data(), body.size());
  return body.size();
}

void ResponseParser::on_chunk_header_impl(std::uint64_t /*size*/,
                                          string_view /*extensions*/,
                                          error_code& /*error*/) {}

std::size_t ResponseParser::on_chunk_body_impl(std::uint64_t remain,
                                               string_view body,
                                               error_code& error) {
  is_within_chunk_ = body.size() < remain;
  return on_body_impl(body, error);
}

void ResponseParser::on_finish_impl(error_code& /*error*/) {}

void ResponseParser::AddToHead(std::size_t size, error_code& error) {
  // A field takes memory even without name and value.
  constexpr std::size_t kOfField = 4;
  head_size_ += size + kOfField;
  if (head_size_ > kMaxHeadBytes) error = HttpError::header_limit;
}

}  // namespace minisched
