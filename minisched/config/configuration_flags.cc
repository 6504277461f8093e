#include "minisched/config/configuration_flags.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "minisched/base/printable.h"
#include "minisched/client/config_files.h"
#include "minisched/config/write.h"

namespace minisched {
namespace {

// As for --kube-api-qps, so that no request waits for years.
constexpr float kMinQps = 0.001F;

}  // namespace

ConfigurationFlags::ConfigurationFlags(App& app, SchedulerFeatures features)
    : app_(app), features_(std::move(features)) {
  app.flags().AddNonEmpty(
      "--config", &file_,
      "The configuration file: a KubeSchedulerConfiguration");
  app.flags().AddNonEmpty(
      "--write-config-to", &write_to_,
      "Write the configuration with all defaults to this file, and exit");
  if (features_.leader_election) election_flags_.AddTo(app.flags());
  app.Configure([this](const std::string& program, AppSettings& settings) {
    return Load(program, settings);
  });
}

std::optional<int> ConfigurationFlags::Load(const std::string& program,
                                            AppSettings& settings) {
  try {
    if (file_.empty()) {
      LoadDefaults(settings);
      ApplyFlags(settings);
    } else {
      LoadFile();
      ApplyFile(settings);
    }
  } catch (const ConfigurationError& error) {
    const std::string file = file_.empty() ? "" : Printable(file_) + ": ";
    for (const std::string& line : error.errors()) {
      std::cerr << program << ": " << file << line << "\n";
    }
    return 1;
  }
  settings.configz = Configz(configuration_);
  if (write_to_.empty()) return std::nullopt;
  Write();
  return 0;
}

void ConfigurationFlags::LoadFile() {
  auto loaded = LoadConfiguration(
      ReadFileOrPipe(file_, "--config " + file_, {}), features_,
      [this](auto& configuration) { ApplyElectionFlags(configuration); });
  for (const std::string& warning : loaded.warnings) {
    spdlog::warn("{}: {}", Printable(file_), warning);
  }
  configuration_ = std::move(loaded.configuration);
}

void ConfigurationFlags::LoadDefaults(const AppSettings& settings) {
  configuration_ = DefaultConfiguration(features_, [&](auto& configuration) {
    if (!features_.leader_election) return;
    configuration.leader_election.resource_name = settings.scheduler_name;
    ApplyElectionFlags(configuration);
  });
}

void ConfigurationFlags::ApplyElectionFlags(
    KubeSchedulerConfiguration& configuration) const {
  if (!features_.leader_election) return;
  election_flags_.Apply(configuration.leader_election);
}

void ConfigurationFlags::ApplyFile(AppSettings& settings) {
  const auto& connection = configuration_.client_connection;
  WarnOfFlag("--scheduler-name", "profiles[0].schedulerName");
  WarnOfFlag("--kube-api-qps", "clientConnection.qps");
  WarnOfFlag("--kube-api-burst", "clientConnection.burst");
  settings.scheduler_name = configuration_.profiles[0].scheduler_name;
  settings.qps =
      connection.qps <= 0 ? connection.qps : std::max(connection.qps, kMinQps);
  settings.burst = connection.burst;
  if (connection.kubeconfig.empty()) return;
  WarnOfFlag("--kubeconfig", "clientConnection.kubeconfig");
  settings.kubeconfig = connection.kubeconfig;
}

void ConfigurationFlags::ApplyFlags(const AppSettings& settings) {
  auto& connection = configuration_.client_connection;
  configuration_.profiles[0].scheduler_name = settings.scheduler_name;
  connection.kubeconfig = settings.kubeconfig;
  connection.qps = static_cast<float>(settings.qps);
  connection.burst = settings.burst;
}

void ConfigurationFlags::WarnOfFlag(const std::string& flag,
                                    const std::string& field) const {
  if (!app_.flags().IsGiven(flag)) return;
  spdlog::warn("{} has no effect beside --config: set {} in {}", flag, field,
               Printable(file_));
}

void ConfigurationFlags::Write() const {
  std::ofstream file(write_to_);
  file << WriteConfiguration(configuration_) << std::flush;
  if (!file) {
    throw std::runtime_error(
        fmt::format("--write-config-to {}: cannot write "
                    "the file: {}",
                    write_to_, std::strerror(errno)));
  }
  spdlog::info("wrote the configuration to {}", Printable(write_to_));
}

}  // namespace minisched
