#include "minisched/app/app.h"
#include "scheduler.h"

int main(int argc, char** argv) {
  minisched::App app("A scheduler for Kubernetes that you can read.");
  minisched::SchedulerOptions options;
  options.AddFlags(app.flags());
  return app.Run(argc, argv, [&options](const minisched::AppContext& context) {
    minisched::Scheduler(context, options).Run(context.stop);
  });
}
