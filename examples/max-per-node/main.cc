// Step 13 with one more plugin.
#include <memory>
#include <string>

#include "max_per_node.h"
#include "minisched/app/app.h"
#include "scheduler.h"

int main(int argc, char** argv) {
  minisched::App app("minisched-13 with the plugin MaxPerNode.");
  std::string group_label = "app";
  app.flags().AddNonEmpty("--group-label", &group_label,
                          "The label whose value names the pod's group");
  minisched::SchedulerOptions options;
  options.AddFlags(app.flags());
  options.add_plugins = [&](minisched::Framework& framework,
                            const minisched::Handle& /*handle*/) {
    framework.Add(std::make_unique<minisched::MaxPerNode>(group_label),
                  /*weight=*/2);
  };
  return app.Run(argc, argv, [&](const minisched::AppContext& context) {
    minisched::Scheduler(context, options).Run(context.stop);
  });
}
