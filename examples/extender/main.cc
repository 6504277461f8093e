// The extender of extender.py in C++.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "minisched/http/http_server.h"

namespace {

using minisched::http::Reply;
using minisched::http::Request;
using Json = nlohmann::json;

constexpr int kTooHot = 70;  // °C

// Returns what the sensor of a node shows, or 0 if it has none.
int Temperature(const std::string& node) {
  std::ifstream sensors("temperatures.json");
  return Json::parse(sensors).value(node, 0);
}

Json AnswerFilter(const Json& nodes) {
  Json cool = Json::array();
  Json failed = Json::object();
  for (const std::string node : nodes) {
    if (Temperature(node) > kTooHot) {
      failed[node] = "node(s) were too hot";
    } else {
      cool.push_back(node);
    }
  }
  return {{"NodeNames", cool}, {"FailedNodes", failed}};
}

Json AnswerPrioritize(const Json& nodes) {
  Json scores = Json::array();
  for (const std::string node : nodes) {
    const int score = std::max(0, 10 - Temperature(node) / 10);
    scores.push_back({{"Host", node}, {"Score", score}});
  }
  return scores;
}

Reply Answer(const Request& request) {
  const Json nodes = Json::parse(request.body).at("NodeNames");
  if (request.path == "/filter") return {.body = AnswerFilter(nodes).dump()};
  if (request.path == "/prioritize") {
    return {.body = AnswerPrioritize(nodes).dump()};
  }
  return minisched::http::TextReply("no such call\n", 404);
}

}  // namespace

int main() {
  const char* const port = std::getenv("PORT");
  boost::asio::io_context io;
  const minisched::http::HttpServer server(
      io,
      {.port = static_cast<unsigned short>(std::stoi(port ? port : "8888"))},
      [](const Request& request, const auto& respond) {
        respond(Answer(request));
      });
  io.run();
}
