// Package maxpernode is the plugin of ../../max_per_node.h for kube-scheduler.
package maxpernode

import (
	"context"
	"errors"
	"strconv"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

const (
	// Name is the plugin's name in the registry and in configurations.
	Name = "MaxPerNode"
	// Label is the pod label with the maximum.
	Label = "example.com/max-per-node"
)

// Args are the plugin's arguments in a KubeSchedulerConfiguration.
type Args struct {
	GroupLabel string `json:"groupLabel"`
	MaxPerNode int64  `json:"maxPerNode"` // 0: only pods with Label are limited
}

// MaxPerNode puts at most N pods of a group on each node, and prefers the nodes
// that have the fewest of them. A group is the pods of one namespace with the
// same value of the label Args.GroupLabel. N is Args.MaxPerNode, or the value of
// the pod's label Label.
type MaxPerNode struct {
	args Args
}

var (
	_ fwk.PreFilterPlugin   = &MaxPerNode{}
	_ fwk.FilterPlugin      = &MaxPerNode{}
	_ fwk.ScorePlugin       = &MaxPerNode{}
	_ fwk.EnqueueExtensions = &MaxPerNode{}
)

// New returns the plugin for one profile.
func New(_ context.Context, obj runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
	args := Args{GroupLabel: "app"}
	if err := frameworkruntime.DecodeInto(obj, &args); err != nil {
		return nil, err
	}
	if args.MaxPerNode < 0 {
		return nil, errors.New("maxPerNode: must not be negative")
	}
	return &MaxPerNode{args: args}, nil
}

func (pl *MaxPerNode) Name() string { return Name }

func (pl *MaxPerNode) PreFilter(_ context.Context, state fwk.CycleState, pod *v1.Pod,
	_ []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	var most int64
	if pod.Labels[pl.args.GroupLabel] != "" {
		most = pl.args.MaxPerNode
	}
	if text := pod.Labels[Label]; text != "" {
		var err error
		if most, err = strconv.ParseInt(text, 10, 64); err != nil || most < 1 {
			return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
				"invalid label "+Label)
		}
	}
	if most == 0 {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	state.Write(Name, limit{pods: most})
	return nil, nil
}

func (pl *MaxPerNode) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

func (pl *MaxPerNode) Filter(_ context.Context, state fwk.CycleState, pod *v1.Pod,
	node fwk.NodeInfo) *fwk.Status {
	data, err := state.Read(Name)
	if err != nil {
		return fwk.AsStatus(err)
	}
	if pl.countOn(node, pod) < data.(limit).pods {
		return nil
	}
	return fwk.NewStatus(fwk.Unschedulable, "node(s) reached max-per-node")
}

func (pl *MaxPerNode) Score(_ context.Context, state fwk.CycleState, pod *v1.Pod,
	node fwk.NodeInfo) (int64, *fwk.Status) {
	data, err := state.Read(Name)
	if err != nil {
		return 0, nil
	}
	most := data.(limit).pods
	return fwk.MaxNodeScore - fwk.MaxNodeScore*pl.countOn(node, pod)/most, nil
}

func (pl *MaxPerNode) ScoreExtensions() fwk.ScoreExtensions { return nil }

func (pl *MaxPerNode) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}},
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete | fwk.UpdatePodLabel},
			QueueingHintFn: pl.afterPodChange},
	}, nil
}

type limit struct {
	pods int64
}

func (l limit) Clone() fwk.StateData { return l }

// afterPodChange returns Queue if the pod's own labels have changed, or if a
// node has one pod less of the pod's group.
func (pl *MaxPerNode) afterPodChange(_ klog.Logger, pod *v1.Pod,
	oldObj, newObj interface{}) (fwk.QueueingHint, error) {
	before, after, err := util.As[*v1.Pod](oldObj, newObj)
	if err != nil {
		return fwk.Queue, err
	}
	if after != nil && after.UID == pod.UID {
		return fwk.Queue, nil
	}
	counted := before.Spec.NodeName != "" && pl.sameGroup(before, pod)
	if counted && !(after != nil && pl.sameGroup(after, pod)) {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}

func (pl *MaxPerNode) sameGroup(a, b *v1.Pod) bool {
	return a.Namespace == b.Namespace &&
		a.Labels[pl.args.GroupLabel] == b.Labels[pl.args.GroupLabel]
}

func (pl *MaxPerNode) countOn(node fwk.NodeInfo, pod *v1.Pod) int64 {
	var count int64
	for _, info := range node.GetPods() {
		if pl.sameGroup(info.GetPod(), pod) {
			count++
		}
	}
	return count
}
