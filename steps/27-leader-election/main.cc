#include "leader_election.h"
#include "minisched/app/app.h"
#include "minisched/config/configuration_flags.h"
#include "scheduler.h"

int main(int argc, char** argv) {
  minisched::App app("A scheduler for Kubernetes that you can read.");
  minisched::SchedulerOptions options;
  options.AddFlags(app.flags());
  const minisched::ConfigurationFlags flags(app, FeaturesOf(options.registry));
  return app.Run(argc, argv, [&](const minisched::AppContext& context) {
    options.configuration = flags.configuration();
    minisched::RunElected(context, options);
  });
}
