package maxpernode

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func podOf(uid, app, maxPerNode string) *v1.Pod {
	pod := &v1.Pod{}
	pod.UID = types.UID(uid)
	pod.Spec.NodeName = "node-1"
	pod.Labels = map[string]string{"app": app, Label: maxPerNode}
	return pod
}

func newPlugin(t *testing.T, args string) *MaxPerNode {
	t.Helper()
	pl, err := New(context.Background(), &runtime.Unknown{Raw: []byte(args)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pl.(*MaxPerNode)
}

func TestANodeFitsUntilItHasTheMaximum(t *testing.T) {
	ctx, pl := context.Background(), newPlugin(t, "{}")
	tests := []struct {
		maxPerNode string
		onNode     []*v1.Pod
		preFilter  fwk.Code
		filter     fwk.Code
		score      int64
	}{
		{"2", nil, fwk.Success, fwk.Success, 100},
		{"2", []*v1.Pod{podOf("b", "web", "")}, fwk.Success, fwk.Success, 50},
		{"1", []*v1.Pod{podOf("b", "db", "")}, fwk.Success, fwk.Success, 100},
		{"1", []*v1.Pod{podOf("b", "web", "")}, fwk.Success, fwk.Unschedulable, 0},
		{"", []*v1.Pod{podOf("b", "web", "")}, fwk.Skip, fwk.Skip, 0},
		{"0", nil, fwk.UnschedulableAndUnresolvable, fwk.Skip, 0},
		{"2x", nil, fwk.UnschedulableAndUnresolvable, fwk.Skip, 0},
		{"99999999999999999999", nil, fwk.UnschedulableAndUnresolvable, fwk.Skip, 0},
	}
	for _, test := range tests {
		pod := podOf("a", "web", test.maxPerNode)
		node := framework.NewNodeInfo(test.onNode...)
		state := framework.NewCycleState()
		_, status := pl.PreFilter(ctx, state, pod, nil)
		if status.Code() != test.preFilter {
			t.Errorf("%+v: PreFilter returned %v", test, status)
		}
		if status.IsSuccess() {
			if status := pl.Filter(ctx, state, pod, node); status.Code() != test.filter {
				t.Errorf("%+v: Filter returned %v", test, status)
			}
		}
		score, status := pl.Score(ctx, state, pod, node)
		if score != test.score || !status.IsSuccess() {
			t.Errorf("%+v: Score returned %v, %v", test, score, status)
		}
	}
}

func TestTheArgumentIsTheMaximumOfPodsWithoutTheLabel(t *testing.T) {
	pl := newPlugin(t, `{"maxPerNode": 1}`)
	tests := []struct {
		pod  *v1.Pod
		code fwk.Code
		most int64
	}{
		{podOf("a", "web", ""), fwk.Success, 1},
		{podOf("a", "web", "2"), fwk.Success, 2},
		{podOf("a", "", ""), fwk.Skip, 0}, // in no group
	}
	for _, test := range tests {
		state := framework.NewCycleState()
		_, status := pl.PreFilter(context.Background(), state, test.pod, nil)
		if status.Code() != test.code {
			t.Errorf("%+v: PreFilter returned %v", test, status)
		}
		if data, err := state.Read(Name); err == nil && data.(limit).pods != test.most {
			t.Errorf("%+v: the maximum is %+v", test, data)
		}
	}
}

func TestTheGroupLabelCanBeConfigured(t *testing.T) {
	pl := newPlugin(t, `{"groupLabel": "team"}`)
	if !pl.sameGroup(podOf("a", "web", ""), podOf("b", "db", "")) {
		t.Error("the label app still matters")
	}
	if got := newPlugin(t, `{"grouplabel": "team"}`).args.GroupLabel; got != "app" {
		t.Errorf("an unknown key was not ignored: %s", got)
	}
}

func TestNewReturnsAnErrorForInvalidArguments(t *testing.T) {
	for _, args := range []string{"[]", `{"groupLabel": 1}`, `{"maxPerNode": -1}`,
		`{"maxPerNode": "2"}`} {
		_, err := New(context.Background(), &runtime.Unknown{Raw: []byte(args)}, nil)
		if err == nil {
			t.Errorf("no error for %s", args)
		}
	}
}

func TestHintsReturnQueueIfTheChangeMayHelp(t *testing.T) {
	pl, pod := newPlugin(t, "{}"), podOf("a", "web", "1")
	pending := podOf("b", "web", "")
	pending.Spec.NodeName = ""
	tests := []struct {
		name          string
		before, after interface{}
		hint          fwk.QueueingHint
	}{
		{"one of the group is deleted", podOf("b", "web", ""), nil, fwk.Queue},
		{"one without a node is deleted", pending, nil, fwk.QueueSkip},
		{"one of another group is deleted", podOf("b", "db", ""), nil, fwk.QueueSkip},
		{"one leaves the group", podOf("b", "web", ""), podOf("b", "db", ""), fwk.Queue},
		{"one joins the group", podOf("b", "db", ""), podOf("b", "web", ""), fwk.QueueSkip},
		{"its own labels change", podOf("a", "db", "1"), pod, fwk.Queue},
	}
	for _, test := range tests {
		hint, err := pl.afterPodChange(klog.Background(), pod, test.before, test.after)
		if hint != test.hint || err != nil {
			t.Errorf("%s: %v, %v", test.name, hint, err)
		}
	}
}
