# Plays a scenario with a step: the story, or a scenario whose recording is shown
# afterwards.
# shellcheck shell=bash
# shellcheck disable=SC2154  # scripts/run sets the variables.

# Reads a recording from stdin, and prints a line for each place that a pod comes
# to.
show_moves() {
  local name place reason colour
  # shellcheck disable=SC2016  # These are variables of jq.
  jq --unbuffered -r '.pod // empty | select(.place != "in flight") |
    (.node // "" | sub("^(?=.)"; "on ")) as $node |
    ((.plugins // []) | join(", ") | sub("^(?=.)"; "by ")) as $plugins |
    [(.name | sub(".*/"; "")), .place,
     ([.event // empty, $plugins, $node] | map(select(. != "")) | join(" "))] |
    join("|")' |
    while IFS='|' read -r name place reason; do
      colour=$plain
      [[ $place != bound ]] || colour=$green
      printf '      %-10s %s%-14s%s %s%s%s\n' \
        "$name" "$colour" "$place" "$plain" "$grey" "$reason" "$plain"
    done
}

# Plays the story with the step.
play_story() {
  local record=$cluster_dir/story.jsonl command player status=0 options=()
  command=$(printf ' %q' "$root/build/bin/$program" --record "$record" \
    "${flags[@]}")
  build default "$program" minisched-apiserver minisched-scenario
  reads_config "$root/build/bin/$program" || options+=(--no-config)
  use_colours
  printf '\n%s%s%s\n\n' "$bold" "$step" "$plain"
  mkdir -p "$cluster_dir"
  rm -f "$record"
  "$root/build/bin/minisched-scenario" --embedded "${options[@]}" \
    --scheduler "exec$command" "$root/testdata/story.yaml" > >(print_lines) &
  player=$!
  # tail warns until the file exists.
  tail -s 0.1 --pid "$player" -n +1 -F "$record" 2>/dev/null |
    show_moves || true
  wait "$player" || status=$?
  return "$status"
}

# Copies stdin line by line, so that the moves are never printed within a line.
print_lines() {
  local line
  while IFS= read -r line; do
    printf '%s\n' "$line"
  done
}

# Checks the options of --live SCENARIO.
check_scenario() {
  if [[ -z $scenario ]]; then
    [[ -z $before$export ]] || die "--before and --export need a recording:" \
      "pass a scenario, --live SCENARIO.yaml"
    return
  fi
  [[ $on == embedded ]] || die "a scenario is played on the embedded API" \
    "server: leave out --on $on"
  [[ -z $once$clean ]] || die "--once and --clean are not for a scenario"
  [[ -z $config ]] || die "a scenario has its own configuration: leave out" \
    "--config"
  [[ $step != kube-scheduler ]] || die "kube-scheduler writes no recording of" \
    "a scenario: pass a step"
  [[ -r $scenario && -f $scenario ]] || die "cannot read the scenario $scenario"
}

# Plays $scenario with $step, prints the result, and shows the recording.
# Returns 1 if the scenario fails.
play_scenario() {
  local bin status=0 recording
  step=$(find_step "${step:-$(list_steps | tail -n 1)}")
  program=minisched-${step%%-*}
  prepare_programs "$program" minisched-scenario minisched-live
  recordings=$(mktemp -d)
  trap 'rm -rf "$recordings"' EXIT
  play_recorded || status=$?
  # The player has printed why it could not play.
  ((status <= 1)) || exit "$status"
  # If the scenario has restarted the scheduler, show the last run.
  recording=$(find "$recordings" -type f -printf '%T@ %p\n' | sort -n |
    sed -n '$s/^[^ ]* //p')
  [[ -n $recording ]] || die "$program has recorded nothing: see its log above"
  show_result "$status"
  show_recording "$recording"
  return "$status"
}

# prepare_programs NAME...: sets $bin. Builds the programs unless $MINISCHED_BIN
# has them.
prepare_programs() {
  local name
  bin=${MINISCHED_BIN-}
  if [[ -z $bin ]]; then
    bin=$root/build/bin
    install_packages "${build_packages[@]}" "${run_packages[@]}"
    build default "$@"
  fi
  bin=$(realpath "$bin")
  for name in "$@"; do
    [[ -x $bin/$name ]] || die "there is no program $bin/$name: build it, or" \
      "unset \$MINISCHED_BIN"
  done
}

# Plays the scenario with a new recording for each start of the scheduler.
play_recorded() {
  local facts command since options=()
  facts=$("$bin/minisched-scenario" --check "$scenario") || exit 2
  [[ $facts =~ \"since\":([0-9]+) ]]
  since=${BASH_REMATCH[1]}
  # An earlier step may have neither the scenario's flags nor its plugins.
  ((10#${step%%-*} >= since)) || options+=(--no-flags)
  reads_config "$bin/$program" || options+=(--no-config)
  command=$(printf 'exec %q%s' "$bin/$program" \
    "${flags[*]:+$(printf ' %q' "${flags[@]}")}")
  command+=" --record $(printf '%q' "$recordings")/\$\$.jsonl"
  # shellcheck disable=SC2016  # The player sets the variable.
  [[ $facts != *'"needsMetrics":true'* ]] ||
    command+=' --metrics-port "$METRICS_PORT"'
  "$bin/minisched-scenario" --embedded --linger 1 "${options[@]}" \
    --scheduler "$command" "$scenario"
}

# show_result STATUS: prints whether the step passes the scenario.
show_result() {
  use_colours
  if (($1 == 0)); then
    printf '%sgreen%s: %s passes the scenario\n' "$green" "$plain" "$step"
  else
    printf '%sred%s: %s fails the scenario\n' "$bold" "$plain" "$step"
  fi
}

# show_recording FILE: writes the page to $export, or serves it until Ctrl-C.
show_recording() {
  local options=(--replay "$1")
  [[ -z $before ]] || options+=(--before "$before")
  if [[ -n $export ]]; then
    "$bin/minisched-live" "${options[@]}" --export "$export" || exit 2
    info "wrote $export"
    return
  fi
  # Ctrl-C ends the page, and then this script.
  trap : INT
  "$bin/minisched-live" "${options[@]}" || exit 2
}
