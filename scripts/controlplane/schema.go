//go:build ignore

// schema prints the types of the Kubernetes API that minisched-apiserver knows,
// as minisched/apiserver/schema/schema.txt has them. In scripts/controlplane:
//
//	go run schema.go >../../minisched/apiserver/schema/schema.txt
package main

import (
	"fmt"
	"path"
	"reflect"
	"regexp"
	"strings"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	events "k8s.io/api/events/v1"
	policy "k8s.io/api/policy/v1"
	dra "k8s.io/api/resource/v1"
	scheduling "k8s.io/api/scheduling/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const header = `# The types of the Kubernetes API that minisched-apiserver knows. Made from
# upstream's Go types by scripts/controlplane/schema.go; not to be edited.
#
#   kind API_VERSION KIND TYPE     what the objects of a kind are
#   type TYPE = OTHER              a name for a scalar or a map
#   type TYPE NAME:NUMBER:TYPE...  a struct: its fields' names in JSON, numbers
#                                  in protobuf (0 for none) and types
#
# A field's TYPE may begin with * (zero is not the same as absent) and [] or
# map[KEY]. ":FLAG,FLAG..." may follow it:
#   always       written even if it is empty
#   inline       its own fields stand, in JSON, among those of this struct; only
#                protobuf knows it
#   merge        a strategic merge patch merges the list; merge=KEY for structs
#   replace      it replaces the struct rather than merge it
`

var roots = []struct {
	apiVersion string
	objects    []any
}{
	{"v1", []any{
		core.Pod{}, core.Node{}, core.Namespace{}, core.Event{}, core.Service{},
		core.ConfigMap{}, core.ServiceAccount{},
		core.ReplicationController{}, core.PersistentVolume{},
		core.PersistentVolumeClaim{}, core.Binding{}, meta.DeleteOptions{},
	}},
	{"apps/v1", []any{
		apps.Deployment{}, apps.ReplicaSet{}, apps.StatefulSet{},
		apps.DaemonSet{},
	}},
	{"autoscaling/v1", []any{autoscaling.Scale{}}},
	{"coordination.k8s.io/v1", []any{coordination.Lease{}}},
	{"events.k8s.io/v1", []any{events.Event{}}},
	{"policy/v1", []any{policy.PodDisruptionBudget{}, policy.Eviction{}}},
	{"resource.k8s.io/v1", []any{
		dra.ResourceClaim{}, dra.ResourceSlice{}, dra.DeviceClass{},
	}},
	{"scheduling.k8s.io/v1", []any{scheduling.PriorityClass{}}},
	{"storage.k8s.io/v1", []any{
		storage.StorageClass{}, storage.CSINode{}, storage.CSIDriver{},
		storage.CSIStorageCapacity{}, storage.VolumeAttachment{},
	}},
}

// Types that write themselves as JSON.
var wellKnown = map[reflect.Type]string{
	reflect.TypeFor[[]byte]():               "bytes",
	reflect.TypeFor[resource.Quantity]():    "quantity",
	reflect.TypeFor[meta.Time]():            "time",
	reflect.TypeFor[meta.MicroTime]():       "microtime",
	reflect.TypeFor[intstr.IntOrString]():   "intorstring",
	reflect.TypeFor[meta.FieldsV1]():        "any",
	reflect.TypeFor[runtime.RawExtension](): "any",
}

var scalars = map[reflect.Kind]bool{
	reflect.String: true, reflect.Bool: true,
	reflect.Int32: true, reflect.Int64: true,
}

var version = regexp.MustCompile(`^v[0-9]`)

// The lines of the types met so far, in that order, each type once.
var (
	lines []string
	seen  = map[reflect.Type]bool{}
)

// typeName is "core/v1.Container", "types.UID".
func typeName(t reflect.Type) string {
	dir, name := path.Split(t.PkgPath())
	if version.MatchString(name) {
		name = path.Join(path.Base(dir), name)
	}
	return name + "." + t.Name()
}

// express returns how a type is written, and sees to it that the named types in
// it have their lines.
func express(t reflect.Type) string {
	if name, ok := wellKnown[t]; ok {
		return name
	}
	if t.PkgPath() != "" {
		define(t)
		return typeName(t)
	}
	switch {
	case scalars[t.Kind()]:
		return t.Name()
	case t.Kind() == reflect.Pointer:
		return "*" + express(t.Elem())
	case t.Kind() == reflect.Slice:
		return "[]" + express(t.Elem())
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		return "map[" + express(t.Key()) + "]" + express(t.Elem())
	}
	panic("the schema has no such type: " + t.String())
}

func define(t reflect.Type) {
	if seen[t] {
		return
	}
	seen[t] = true
	place := len(lines)
	lines = append(lines, "")
	line := "type " + typeName(t)
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			line += field(t.Field(i))
		}
	case reflect.Map:
		line += " = " + express(reflect.MapOf(t.Key(), t.Elem()))
	default:
		line += " = " + t.Kind().String()
	}
	lines[place] = line
}

func field(f reflect.StructField) string {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" {
		return ""
	}
	var flags []string
	if f.Anonymous && name == "" {
		name = f.Name
		flags = append(flags, "inline")
	} else if isAlways(f.Type, options) {
		flags = append(flags, "always")
	}
	// Lists are replaced and structs merged where nothing is said.
	isList := f.Type.Kind() == reflect.Slice
	for _, strategy := range strings.Split(f.Tag.Get("patchStrategy"), ",") {
		if strategy == "merge" && isList {
			if key := f.Tag.Get("patchMergeKey"); key != "" {
				strategy += "=" + key
			}
			flags = append(flags, strategy)
		} else if strategy == "replace" && !isList {
			flags = append(flags, strategy)
		}
	}

	number := "0"
	if tag := strings.Split(f.Tag.Get("protobuf"), ","); len(tag) > 1 {
		number = tag[1]
	}
	text := " " + name + ":" + number + ":" + express(f.Type)
	if len(flags) > 0 {
		text += ":" + strings.Join(flags, ",")
	}
	return text
}

// Go's encoder knows no empty structs.
func isAlways(t reflect.Type, options string) bool {
	if strings.Contains(options, "omitzero") {
		return false
	}
	return !strings.Contains(options, "omitempty") || t.Kind() == reflect.Struct
}

func main() {
	var kinds []string
	for _, root := range roots {
		for _, object := range root.objects {
			t := reflect.TypeOf(object)
			kinds = append(kinds, fmt.Sprintf("kind %s %s %s", root.apiVersion,
				t.Name(), express(t)))
		}
	}
	fmt.Print(header, "\n", strings.Join(kinds, "\n"), "\n\n",
		strings.Join(lines, "\n"), "\n")
}
