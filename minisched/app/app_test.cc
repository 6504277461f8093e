#include "minisched/app/app.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "minisched/http/http_testing.h"
#include "testing/http_server.h"
#include "testing/pem.h"

namespace minisched {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// Runs an App with a kubeconfig in a temporary directory.
class AppTest : public ::testing::Test {
 protected:
  AppTest()
      : directory_(std::filesystem::temp_directory_path() /
                   ("app_test." + std::to_string(getpid()))) {
    std::filesystem::create_directory(directory_);
  }

  ~AppTest() override { std::filesystem::remove_all(directory_); }

  std::string path() const { return directory_ / "kubeconfig"; }

  void WriteKubeconfig(const std::string& server) {
    std::ofstream(path()) << "clusters: [{name: c, cluster: {server: '"
                          << server << "'}}]\n"
                          << "contexts: [{name: x, context: {cluster: c}}]\n"
                          << "current-context: x\n";
  }

  int Run(std::vector<std::string> arguments,
          const std::function<void(const AppContext&)>& body) {
    arguments.insert(arguments.begin(),
                     {"bin/minisched-07", "--kubeconfig", path()});
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) {
      argv.push_back(argument.c_str());
    }
    ::testing::internal::CaptureStderr();
    App app("A scheduler.");
    const int code = app.Run(static_cast<int>(argv.size()), argv.data(),
                             [&](const AppContext& context) {
                               ran_ = true;
                               body(context);
                             });
    err_ = ::testing::internal::GetCapturedStderr();
    return code;
  }
  int Run() {
    return Run({}, [](const AppContext&) {});
  }

  const std::filesystem::path directory_;
  bool ran_ = false;
  std::string err_;
};

void SendVersion(const ServerRequest&, ServerReply reply) {
  reply.Send(200, R"({"gitVersion":"v1.37.2"})");
}

TEST_F(AppTest, ConnectsAndRunsTheBody) {
  const HttpServer server(SendVersion);
  WriteKubeconfig(server.url());
  const int code =
      Run({"--scheduler-name=mine", "--kube-api-qps=7", "--kube-api-burst=9"},
          [](const AppContext& context) {
            EXPECT_EQ(context.scheduler_name, "mine");
            EXPECT_EQ(context.client.config().qps, 7);
            EXPECT_EQ(context.client.config().burst, 9);
            EXPECT_FALSE(context.stop.stop_requested());
          });
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(ran_);
  EXPECT_THAT(err_, ContainsRegex("info  connecting to " + server.url() +
                                  " .*\n.*info  connected to " + server.url() +
                                  " .*, Kubernetes v1.37.2"));
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_THAT(server.requests()[0].headers.at("user-agent"),
              ::testing::StartsWith("minisched-07/"));
}

TEST_F(AppTest, StopsOnASignal) {
  // This test has no HttpServer, because a signal to the server's thread would
  // end the process.
  WriteKubeconfig("http://127.0.0.1:1");
  EXPECT_EQ(Run({},
                [](const AppContext& context) {
                  kill(getpid(), SIGTERM);
                  RealClock().SleepFor(std::chrono::hours(1), context.stop);
                  throw Cancelled();  // as the client does
                }),
            0);
  EXPECT_THAT(err_, HasSubstr("stopping on SIGTERM"));
}

TEST_F(AppTest, ASignalEndsTheWaitForAKubeconfigThatIsAPipe) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  std::promise<void> ended;
  std::jthread writer([&] {
    sigset_t signals;
    sigfillset(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    const std::ofstream pipe(path());  // blocks until the app opens it
    kill(getpid(), SIGTERM);
    ended.get_future().wait();
  });
  EXPECT_EQ(Run(), 0);
  ended.set_value();
  EXPECT_FALSE(ran_);
  EXPECT_THAT(err_, HasSubstr("stopping on SIGTERM"));
}

TEST_F(AppTest, AnnotatesResultsIfAskedTo) {
  const HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Send(200, R"({"gitVersion":"v1.37.2","metadata":{"uid":"1"}})");
  });
  WriteKubeconfig(server.url());
  for (const bool annotate : {false, true}) {
    Run(std::vector<std::string>(annotate ? 1 : 0, "--annotate-results"),
        [](const AppContext& context) {
          context.trace.Tried([] {
            return Attempt{.pod = "shop/web", .uid = "1", .failure = "no cpu"};
          });
        });
  }
  std::vector<std::string> requests;
  for (const ServerRequest& request : server.requests()) {
    requests.push_back(request.method + " " + request.target);
  }
  EXPECT_THAT(requests, ElementsAre("GET /version", "GET /version",
                                    "GET /api/v1/namespaces/shop/pods/web",
                                    "PATCH /api/v1/namespaces/shop/pods/web"));
}

TEST_F(AppTest, Sigusr2LogsThePlacesOfThePods) {
  WriteKubeconfig("http://127.0.0.1:1");
  Run({}, [](const AppContext& context) {
    Pod pod;
    pod.metadata.namespace_name = "shop";
    pod.metadata.name = "web";
    context.trace.Moved(pod, Place::kUnschedulable, {.attempts = 3});
    kill(getpid(), SIGUSR2);
    // The app receives a pending SIGUSR2 before a pending SIGTERM.
    kill(getpid(), SIGTERM);
    RealClock().SleepFor(std::chrono::hours(1), context.stop);
  });
  EXPECT_THAT(err_, ContainsRegex("info .*the pods of the scheduling queue:\n"
                                  "  PLACE +POD +.*\n"
                                  "  unschedulable +shop/web +"));
}

TEST_F(AppTest, LogsAttemptsFromTheStart) {
  WriteKubeconfig("http://127.0.0.1:1");
  Run({"-v"}, [](const AppContext& context) {
    context.trace.Tried(
        [] { return Attempt{.pod = "shop/web", .failure = "no nodes"}; });
  });
  EXPECT_THAT(err_, HasSubstr("shop/web, attempt 0: no nodes\n"));
}

TEST_F(AppTest, DescribesNoAttemptsWithoutVerbosity) {
  WriteKubeconfig("http://127.0.0.1:1");
  Run({}, [](const AppContext& context) {
    context.trace.Tried([] {
      ADD_FAILURE();
      return Attempt{};
    });
  });
  EXPECT_TRUE(ran_);
}

TEST_F(AppTest, PausesTheSchedulerForADuration) {
  WriteKubeconfig("http://127.0.0.1:1");
  for (const std::string pace : {"1h", "run"}) {
    Run({"--pace", pace}, [&](const AppContext& context) {
      TraceReader reader(context.trace);
      const auto records = reader.Next(context.stop);
      const auto& scheduler = std::get<SchedulerRecord>(records.back()->state);
      EXPECT_EQ(scheduler.paused, pace == "1h");
      EXPECT_EQ(scheduler.program, "minisched-07");
    });
    EXPECT_TRUE(ran_);
  }
}

TEST_F(AppTest, RejectsAnInvalidPace) {
  EXPECT_EQ(Run({"--pace", "none"}, [](const AppContext&) {}), 2);
  EXPECT_FALSE(ran_);
  EXPECT_THAT(err_, AllOf(::testing::StartsWith(
                              "minisched-07: --pace: \"none\" is not a pace"),
                          EndsWith("\n")));
  EXPECT_EQ(err_.find('\n'), err_.size() - 1) << err_;
}

// Returns the URL in the log line of --metrics-port.
std::string MetricsUrl(const std::string& log) {
  const std::string begin = "serving metrics and health checks at ";
  const auto at = log.find(begin);
  if (at == log.npos) return "";
  return log.substr(at + begin.size(), log.find('\n', at) - at - begin.size());
}

TEST_F(AppTest, ServesMetricsAndHealthChecks) {
  WriteKubeconfig("http://127.0.0.1:1");
  const int code = Run(
      {"--metrics-port=0", "--scheduler-name=mine"},
      [](const AppContext& context) {
        // Run() captures the log: read it so far, and go on.
        const std::string log = ::testing::internal::GetCapturedStderr();
        ::testing::internal::CaptureStderr();
        const std::string url = MetricsUrl(log);
        context.metrics.PodScheduled("mine", std::chrono::milliseconds(1));
        EXPECT_THAT(http::Ask(url, "GET", "/metrics"),
                    HasSubstr("{profile=\"mine\",result=\"scheduled\"} 1\n"));
        EXPECT_THAT(http::Ask(url, "GET", "/livez"), EndsWith("\r\n\r\nok"));
      });
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(ran_);
}

TEST_F(AppTest, ServesTheTraceBesideTheMetrics) {
  WriteKubeconfig("http://127.0.0.1:1");
  const auto debug_of_run = [this](std::vector<std::string> flags) {
    std::string debug;
    flags.insert(flags.begin(), {"--metrics-port=0", "--scheduler-name=mine"});
    Run(flags, [&](const AppContext&) {
      const std::string log = ::testing::internal::GetCapturedStderr();
      ::testing::internal::CaptureStderr();
      debug = http::Ask(MetricsUrl(log), "GET", "/debug");
    });
    return debug;
  };
  EXPECT_THAT(debug_of_run({}), AllOf(HasSubstr(R"("program":"minisched-07")"),
                                      HasSubstr(R"("scheduler":"mine")"),
                                      HasSubstr(R"("control":false)"),
                                      HasSubstr(R"("pace":"run")")));
  EXPECT_THAT(
      debug_of_run({"--debug-control", "--pace=5s"}),
      AllOf(HasSubstr(R"("control":true)"), HasSubstr(R"("pace":"5s")")));
}

// The scheduler reports moves to the trace only.
TEST_F(AppTest, ServesMetricsOfTheQueue) {
  WriteKubeconfig("http://127.0.0.1:1");
  Run({"--metrics-port=0"}, [](const AppContext& context) {
    const std::string log = ::testing::internal::GetCapturedStderr();
    ::testing::internal::CaptureStderr();
    const auto move = [&](const char* uid, Place place, const char* event) {
      Pod pod;
      pod.metadata.uid = uid;
      context.trace.Moved(pod, place, {.event = event});
    };
    for (const char* uid : {"a", "b", "c", "d"}) {
      move(uid, Place::kActive, "UnscheduledPodAdd");
    }
    move("a", Place::kInFlight, "");
    move("b", Place::kUnschedulable, "ScheduleAttemptFailure");
    move("c", Place::kBackoff, "ScheduleAttemptFailure");
    const std::string text = http::Ask(MetricsUrl(log), "GET", "/metrics");
    for (const char* line :
         {"scheduler_pending_pods{queue=\"active\"} 1\n",
          "scheduler_pending_pods{queue=\"backoff\"} 1\n",
          "scheduler_pending_pods{queue=\"gated\"} 0\n",
          "scheduler_pending_pods{queue=\"unschedulable\"} 1\n",
          "{event=\"UnscheduledPodAdd\",queue=\"active\"} 4\n",
          "{event=\"ScheduleAttemptFailure\",queue=\"backoff\"} 1\n",
          "{event=\"ScheduleAttemptFailure\",queue=\"unschedulable\"} 1\n"}) {
      EXPECT_THAT(text, HasSubstr(line));
    }
  });
  EXPECT_TRUE(ran_);
}

// In a pod, the kubelet's probes don't come from the loopback interface.
TEST_F(AppTest, ServesMetricsAtAnotherAddress) {
  WriteKubeconfig("http://127.0.0.1:1");
  Run({"--metrics-port=0", "--metrics-address=0.0.0.0"}, [](const AppContext&) {
    const std::string log = ::testing::internal::GetCapturedStderr();
    ::testing::internal::CaptureStderr();
    const std::string url = MetricsUrl(log);
    EXPECT_THAT(url, ::testing::StartsWith("http://0.0.0.0:"));
    EXPECT_THAT(http::Ask(url, "GET", "/livez"), EndsWith("\r\n\r\nok"));
  });
  EXPECT_TRUE(ran_);
}

TEST_F(AppTest, RejectsAnInvalidMetricsAddress) {
  WriteKubeconfig("http://127.0.0.1:1");
  for (const std::string address : {"", "localhost", "[::1]", "10.0.0", "*"}) {
    EXPECT_EQ(Run({"--metrics-port=0", "--metrics-address=" + address},
                  [](const AppContext&) {}),
              2);
    EXPECT_FALSE(ran_);
    EXPECT_THAT(err_, HasSubstr("minisched-07: --metrics-address: "));
    EXPECT_EQ(err_.find('\n'), err_.size() - 1) << err_;
  }
}

TEST_F(AppTest, ServesNoMetricsWithoutAPort) {
  WriteKubeconfig("http://127.0.0.1:1");
  EXPECT_EQ(Run(), 0);
  EXPECT_EQ(MetricsUrl(err_), "");
}

TEST_F(AppTest, FailsIfTheMetricsPortIsInUse) {
  const HttpServer server(SendVersion);
  WriteKubeconfig(server.url());
  const std::string port = std::to_string(server.port());
  EXPECT_EQ(Run({"--metrics-port", port}, [](const AppContext&) {}), 1);
  EXPECT_FALSE(ran_);
  EXPECT_EQ(err_, "minisched-07: --metrics-port " + port +
                      ": cannot listen on 127.0.0.1:" + port +
                      ": Address already in use\n");
}

TEST_F(AppTest, RejectsAnInvalidMetricsPort) {
  WriteKubeconfig("http://127.0.0.1:1");
  for (const std::string port : {"65536", "-1", "http", "80a", ""}) {
    EXPECT_EQ(Run({"--metrics-port=" + port}, [](const AppContext&) {}), 2);
    EXPECT_FALSE(ran_);
    EXPECT_THAT(err_, HasSubstr("minisched-07: --metrics-port: "));
    EXPECT_EQ(err_.find('\n'), err_.size() - 1) << err_;
  }
}

// As in client-go, a negative rate means no limit.
TEST_F(AppTest, AcceptsRatesWithoutALimit) {
  WriteKubeconfig("http://127.0.0.1:1");
  for (const double qps : {0.0, -1.0, 0.001, 2.5}) {
    EXPECT_EQ(Run({"--kube-api-qps", std::to_string(qps)},
                  [&](const AppContext& context) {
                    EXPECT_EQ(context.client.config().qps, qps);
                  }),
              0);
  }
}

TEST_F(AppTest, RejectsInvalidRates) {
  WriteKubeconfig("http://127.0.0.1:1");
  for (const std::string qps :
       {"nan", "inf", "-inf", "1e400", "1e-300", "0.0001", "", "1x", "fast"}) {
    EXPECT_EQ(Run({"--kube-api-qps", qps}, [](const AppContext&) {}), 2);
    EXPECT_FALSE(ran_);
    EXPECT_EQ(err_, "minisched-07: --kube-api-qps: \"" + qps +
                        "\" is not a rate: use a number from 0.001, or 0 or "
                        "less for no limit (minisched-07 --help lists the "
                        "flags)\n");
  }
  for (const std::string burst : {"-5", "0", "", "1.5"}) {
    EXPECT_EQ(Run({"--kube-api-burst", burst}, [](const AppContext&) {}), 2);
    EXPECT_FALSE(ran_);
    EXPECT_EQ(err_, "minisched-07: --kube-api-burst: \"" + burst +
                        "\" is not a whole number from 1 to 2147483647 "
                        "(minisched-07 --help lists the flags)\n");
  }
}

TEST_F(AppTest, RejectsEmptyNames) {
  WriteKubeconfig("http://127.0.0.1:1");
  for (const std::string flag : {"--scheduler-name", "--record"}) {
    EXPECT_EQ(Run({flag, ""}, [](const AppContext&) {}), 2);
    EXPECT_FALSE(ran_);
    EXPECT_EQ(err_, "minisched-07: " + flag +
                        ": must not be empty (minisched-07 --help lists the "
                        "flags)\n");
  }
}

TEST_F(AppTest, RunsWhileTheServerIsUnreachable) {
  WriteKubeconfig("http://127.0.0.1:1");
  EXPECT_EQ(Run(), 0);
  EXPECT_TRUE(ran_);
  EXPECT_THAT(err_, HasSubstr("not connected yet: http://127.0.0.1:1: "));
}

TEST_F(AppTest, FailsIfTheServerIsNotTrusted) {
  const TestCertificate pair =
      Issue(MakeCa("ca"),
            {.common_name = "server", .alternative_names = {"IP:127.0.0.1"}});
  const HttpServer server(SendVersion,
                          {.certificate = pair.certificate, .key = pair.key});
  WriteKubeconfig(server.url());
  EXPECT_EQ(Run(), 1);
  EXPECT_FALSE(ran_);
  EXPECT_THAT(err_, HasSubstr("minisched-07: " + server.url() +
                              ": the server's certificate \"CN=server\" is "
                              "not signed by "));
}

TEST_F(AppTest, FailsWithoutAConfiguration) {
  EXPECT_EQ(Run(), 1);
  EXPECT_FALSE(ran_);
  EXPECT_EQ(err_, "minisched-07: kubeconfig " + path() +
                      ": No such file or directory\n");
}

TEST_F(AppTest, FailsIfTheServerRejectsTheCredentials) {
  const HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Send(401, R"({"message":"Unauthorized","reason":"Unauthorized"})");
  });
  WriteKubeconfig(server.url());
  EXPECT_EQ(Run(), 1);
  EXPECT_FALSE(ran_);
  EXPECT_THAT(err_, EndsWith("minisched-07: " + server.url() +
                             ": Unauthorized: the server rejects the "
                             "credentials of context \"x\" of " +
                             path() + "\n"));
}

TEST_F(AppTest, PrintsAnUnexpectedErrorInOneLine) {
  const HttpServer server(SendVersion);
  WriteKubeconfig(server.url());
  EXPECT_EQ(Run({}, [](const AppContext&) { throw std::logic_error("oops"); }),
            1);
  EXPECT_THAT(err_, EndsWith("minisched-07: oops\n"));
}

TEST_F(AppTest, WrongFlagsExitWithTwo) {
  EXPECT_EQ(Run({"--bogus"}, [](const AppContext&) {}), 2);
  EXPECT_FALSE(ran_);
}

}  // namespace
}  // namespace minisched
