// The last step with one more plugin, which a configuration can enable.
#include "max_per_node.h"
#include "minisched/app/app.h"
#include "minisched/config/configuration_flags.h"
#include "scheduler.h"

int main(int argc, char** argv) {
  minisched::App app(
      "The scheduler of the last step with the plugin MaxPerNode.");
  minisched::SchedulerOptions options;
  options.registry["MaxPerNode"] = minisched::Register<minisched::MaxPerNode>();
  options.AddFlags(app.flags());
  const minisched::ConfigurationFlags flags(app, FeaturesOf(options.registry));
  return app.Run(argc, argv, [&](const minisched::AppContext& context) {
    options.configuration = flags.configuration();
    minisched::Scheduler(context, options).Run(context.stop);
  });
}
