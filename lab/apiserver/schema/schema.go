//go:build ignore

// schema prints the types of the Kubernetes API that minisched-apiserver
// supports, in the format of schema.json. It uses the Go module in
// scripts/controlplane, which has the version of Kubernetes. Run it at the root
// of the repository:
//
//	go run -C scripts/controlplane ../../lab/apiserver/schema/schema.go \
//		>lab/apiserver/schema/schema.json
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apps "k8s.io/api/apps/v1"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	autoscaling "k8s.io/api/autoscaling/v1"
	batch "k8s.io/api/batch/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	events "k8s.io/api/events/v1"
	networking "k8s.io/api/networking/v1"
	node "k8s.io/api/node/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	dra "k8s.io/api/resource/v1"
	scheduling "k8s.io/api/scheduling/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var roots = []struct {
	apiVersion string
	objects    []any
}{
	{"v1", []any{
		core.Pod{}, core.Node{}, core.Namespace{}, core.Event{}, core.Service{},
		core.ConfigMap{}, core.Endpoints{}, core.LimitRange{}, core.Secret{},
		core.ServiceAccount{}, core.ReplicationController{}, core.PersistentVolume{},
		core.PersistentVolumeClaim{}, core.Binding{}, meta.DeleteOptions{},
	}},
	{"apps/v1", []any{
		apps.Deployment{}, apps.ReplicaSet{}, apps.StatefulSet{},
		apps.DaemonSet{},
	}},
	{"authentication.k8s.io/v1", []any{authentication.SelfSubjectReview{}}},
	{"authorization.k8s.io/v1", []any{
		authorization.LocalSubjectAccessReview{},
		authorization.SelfSubjectAccessReview{},
		authorization.SelfSubjectRulesReview{},
		authorization.SubjectAccessReview{},
	}},
	{"autoscaling/v1", []any{autoscaling.Scale{}}},
	{"batch/v1", []any{batch.CronJob{}, batch.Job{}}},
	{"coordination.k8s.io/v1", []any{coordination.Lease{}}},
	{"discovery.k8s.io/v1", []any{discovery.EndpointSlice{}}},
	{"events.k8s.io/v1", []any{events.Event{}}},
	{"networking.k8s.io/v1", []any{
		networking.Ingress{}, networking.IngressClass{},
		networking.NetworkPolicy{},
	}},
	{"node.k8s.io/v1", []any{node.RuntimeClass{}}},
	{"policy/v1", []any{policy.PodDisruptionBudget{}, policy.Eviction{}}},
	{"rbac.authorization.k8s.io/v1", []any{
		rbac.ClusterRole{}, rbac.ClusterRoleBinding{}, rbac.Role{},
		rbac.RoleBinding{},
	}},
	{"resource.k8s.io/v1", []any{
		dra.ResourceClaim{}, dra.ResourceSlice{}, dra.DeviceClass{},
		dra.DeviceTaintRule{},
	}},
	{"scheduling.k8s.io/v1", []any{scheduling.PriorityClass{}}},
	{"storage.k8s.io/v1", []any{
		storage.StorageClass{}, storage.CSINode{}, storage.CSIDriver{},
		storage.CSIStorageCapacity{}, storage.VolumeAttachment{},
	}},
}

// Types with their own JSON encoding, and types that may be any JSON.
var wellKnown = map[reflect.Type]string{
	reflect.TypeFor[[]byte]():               "bytes",
	reflect.TypeFor[resource.Quantity]():    "quantity",
	reflect.TypeFor[meta.Time]():            "time",
	reflect.TypeFor[meta.MicroTime]():       "microtime",
	reflect.TypeFor[intstr.IntOrString]():   "intorstring",
	reflect.TypeFor[meta.FieldsV1]():        "any",
	reflect.TypeFor[runtime.RawExtension](): "any",
	// Lists in a map, which Field can't describe. No code uses these fields.
	reflect.TypeFor[authentication.ExtraValue](): "any",
	reflect.TypeFor[authorization.ExtraValue]():  "any",
}

var scalars = map[reflect.Kind]bool{
	reflect.String: true, reflect.Bool: true,
	reflect.Int32: true, reflect.Int64: true,
}

var version = regexp.MustCompile(`^v[0-9]`)

// Field describes the encoding of a struct's field. See `SchemaField` in
// lab/apiserver/schema/schema.h for the meaning of each part.
type Field struct {
	Name     string `json:"name"`
	Number   int    `json:"number,omitempty"`
	Kind     string `json:"kind"`
	Struct   string `json:"struct,omitempty"`
	List     bool   `json:"list,omitempty"`
	Map      bool   `json:"map,omitempty"`
	Optional bool   `json:"optional,omitempty"`
	Always   bool   `json:"always,omitempty"`
	Inlined  bool   `json:"inlined,omitempty"`
	Merge    bool   `json:"merge,omitempty"`
	MergeKey string `json:"merge_key,omitempty"`
	Replace  bool   `json:"replace,omitempty"`
}

// The structs collected so far, by name.
var structs = map[string][]Field{}

// typeName returns a name such as "core/v1.Container".
func typeName(t reflect.Type) string {
	dir, name := path.Split(t.PkgPath())
	if version.MatchString(name) {
		name = path.Join(path.Base(dir), name)
	}
	return name + "." + t.Name()
}

// setType sets the type of the field, and collects the structs in it.
func (f *Field) setType(t reflect.Type) {
	if kind, ok := wellKnown[t]; ok {
		f.Kind = kind
		return
	}
	switch {
	case scalars[t.Kind()]:
		f.Kind = t.Kind().String()
	case t.Kind() == reflect.Struct:
		f.Kind = "struct"
		f.Struct = typeName(t)
		meet(t)
	case t.Kind() == reflect.Pointer:
		f.Optional = true
		f.setType(t.Elem())
	case t.Kind() == reflect.Slice && !f.List && !f.Map:
		f.List = true
		f.setType(t.Elem())
	case t.Kind() == reflect.Map && !f.List && !f.Map &&
		t.Key().Kind() == reflect.String:
		f.Map = true
		f.setType(t.Elem())
	default:
		panic("the schema has no such type: " + t.String())
	}
}

func meet(t reflect.Type) {
	if _, met := structs[typeName(t)]; met {
		return
	}
	structs[typeName(t)] = nil // a struct may contain itself
	fields := []Field{}
	for i := range t.NumField() {
		if f, ok := field(t.Field(i)); ok {
			fields = append(fields, f)
		}
	}
	structs[typeName(t)] = fields
}

func field(of reflect.StructField) (f Field, ok bool) {
	name, options, _ := strings.Cut(of.Tag.Get("json"), ",")
	if name == "-" {
		return f, false
	}
	f.Name = name
	f.setType(of.Type)
	if of.Anonymous && name == "" {
		f.Name = of.Name
		f.Inlined = true
	} else {
		f.Always = isAlways(of.Type, options)
	}
	// By default, lists are replaced and structs are merged.
	strategies := strings.Split(of.Tag.Get("patchStrategy"), ",")
	f.Merge = f.List && slices.Contains(strategies, "merge")
	f.Replace = !f.List && slices.Contains(strategies, "replace")
	if f.Merge {
		f.MergeKey = of.Tag.Get("patchMergeKey")
	}
	if tag := strings.Split(of.Tag.Get("protobuf"), ","); len(tag) > 1 {
		f.Number, _ = strconv.Atoi(tag[1])
	}
	return f, true
}

// isAlways returns whether the field is always written. Go's omitempty does not
// omit structs.
func isAlways(t reflect.Type, options string) bool {
	if strings.Contains(options, "omitzero") {
		return false
	}
	return !strings.Contains(options, "omitempty") || t.Kind() == reflect.Struct
}

// text returns `value` as JSON on one line.
func text(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

func main() {
	var kinds, types []string
	for _, root := range roots {
		for _, object := range root.objects {
			t := reflect.TypeOf(object)
			meet(t)
			kinds = append(kinds,
				text(root.apiVersion+" "+t.Name())+": "+text(typeName(t)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(structs)) {
		var fields []string
		for _, f := range structs[name] {
			fields = append(fields, text(f))
		}
		types = append(types,
			text(name)+": [\n"+strings.Join(fields, ",\n")+"]")
	}
	fmt.Printf("{\"kinds\": {\n%s},\n\"types\": {\n%s}}\n",
		strings.Join(kinds, ",\n"), strings.Join(types, ",\n"))
}
