#include "lab/explain/trial.h"

#include "lab/explain/errors.h"

namespace minisched::explain {

Trial::Trial(const Experiment& experiment,
             const std::vector<scenario::Step>& more,
             const std::stop_token& stop)
    : experiment_(experiment),
      copy_(experiment.manifests),
      client_(copy_.config()) {
  const auto& [ns, name] = experiment.pod;
  std::string scheduler_name = "minisched";
  try {
    scheduler_name = client_.Get<Pod>(ns, name, stop)->spec.scheduler_name;
  } catch (const ApiError& error) {
    if (error.code() != 404) throw;  // 404: a step creates the pod
  }
  Play(experiment.steps, copy_, ns, scheduler_name, stop);
  Play(more, copy_, ns, scheduler_name, stop);
  try {
    pod_ = client_.Get<Pod>(ns, name, stop);
  } catch (const ApiError& error) {
    if (error.code() != 404) throw;
    throw CannotTell(experiment.pod.ToString() +
                     " is not there any more after the steps of --what-if");
  }
}

}  // namespace minisched::explain
