#pragma once

#include "framework/framework.h"
#include "framework/handle.h"

namespace minisched {

// Adds Unsupported and then the default plugins of kube-scheduler that this
// scheduler has, in kube-scheduler's order and with its weights. Follows
// kube-scheduler's plugins/registry.go and apis/config/v1/default_plugins.go.
void AddDefaultPlugins(Framework& framework, const Handle& handle);

// Adds Coscheduling, which is not a default plugin. Its order of pods replaces
// that of PrioritySort.
void AddCoscheduling(Framework& framework, const Handle& handle);

// Adds DefaultPreemption. Call it after AddCoscheduling(), whose groups can
// keep their pods from preempting others.
void AddDefaultPreemption(Framework& framework, const Handle& handle);

// Adds NodeNumber, which is not a default plugin.
void AddNodeNumber(Framework& framework, const Handle& handle,
                   std::int64_t weight);

}  // namespace minisched
