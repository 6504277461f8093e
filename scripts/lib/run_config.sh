# Runs the demo with a configuration of the scheduler, and with kube-scheduler.
# shellcheck shell=bash
# shellcheck disable=SC2154  # scripts/run sets the variables.

# Prepares kube-scheduler, which minisched-live starts.
use_kube_scheduler() {
  [[ -n $live ]] || die "kube-scheduler runs only with --live"
  export KUBE_SCHEDULER=${KUBE_SCHEDULER:-$cluster_dir/bin/kube-scheduler}
  [[ -x $KUBE_SCHEDULER ]] || die "there is no program $KUBE_SCHEDULER: build" \
    "it with 'scripts/cluster up real', or set \$KUBE_SCHEDULER"
  program=minisched-live
}

# Fails unless the run with $config takes the pods of the demo and, beside other
# schedulers, only these. Completes $config. Needs $KUBECONFIG.
check_config() {
  local names
  [[ -n $config ]] || return 0
  [[ $step == kube-scheduler ]] || reads_config "$root/build/bin/$program" ||
    die "$program reads no configuration: leave out --config, or pass a later" \
      "step"
  completed=$cluster_dir/scheduler.json
  "$root/build/bin/minisched-scenario" --complete "$config" \
    --kubeconfig "$KUBECONFIG" --scheduler-name "$scheduler_name" \
    >"$completed" || exit
  names=$(jq -r '.profiles[]?.schedulerName?' "$completed")
  grep -qxF -e "$scheduler_name" <<<"$names" ||
    die "no profile of $config takes the pods of the demo: leave out the" \
      "schedulerName of one, or set it to minisched"
  [[ $on == embedded || $names == "$scheduler_name" ]] ||
    die "$config has profiles for other pods than those of the demo:" \
      "$(grep -vxF -e "$scheduler_name" <<<"$names" | paste -s -d ' ');" \
      "leave them out"
}

# Adds the flags for $config. minisched-live starts kube-scheduler, and a step
# whose configuration the page can edit.
use_config() {
  local command
  if [[ $step == kube-scheduler ]]; then
    command="exec '$root/scripts/lib/kube_scheduler'"
    [[ -n $config ]] || write_config
  elif [[ -z $config ]]; then
    return
  elif [[ -z $live ]]; then
    flags+=(--config "$completed")
    return
  else
    printf -v command ' %q' "$root/build/bin/$program" "${flags[@]}"
    # shellcheck disable=SC2016  # minisched-live sets the variable.
    command="exec$command --config \"\$SCHEDULER_CONFIG\""
    program=minisched-live flags=("${page[@]}")
  fi
  flags=(--kubeconfig "$KUBECONFIG" --scheduler-name "$scheduler_name"
    --config "$config" --scheduler "$command" "${flags[@]}")
}

# Writes the configuration with which kube-scheduler starts.
write_config() {
  config=$cluster_dir/kube-scheduler.yaml
  cat >"$config" <<EOT
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: $scheduler_name
EOT
}
