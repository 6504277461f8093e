#include "lab/explain/trial.h"

#include "lab/explain/errors.h"

namespace minisched::explain {

Trial::Trial(const Experiment& experiment,
             const std::vector<scenario::Step>& more,
             const std::stop_token& stop)
    : experiment_(experiment),
      copy_(experiment.objects.manifests),
      client_(copy_.config()) {
  const auto& [ns, name] = experiment.pod;
  Play(experiment.steps, copy_, ns, experiment.scheduler_name, stop);
  Play(more, copy_, ns, experiment.scheduler_name, stop);
  try {
    pod_ = client_.Get<Pod>(ns, name, stop);
  } catch (const ApiError& error) {
    if (error.code() != 404) throw;
    throw CannotTell(experiment.pod.ToString() +
                     " is not there any more after the steps of --what-if");
  }
}

}  // namespace minisched::explain
