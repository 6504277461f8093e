// kube-scheduler with one more plugin.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"minisched/examples/max-per-node/maxpernode"
)

func main() {
	command := app.NewSchedulerCommand(
		app.WithPlugin(maxpernode.Name, maxpernode.New))
	os.Exit(cli.Run(command))
}
