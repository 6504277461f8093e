#pragma once

namespace minisched {

// Data that plugins store for one pod, for use at later extension points.
class CycleState {};

}  // namespace minisched
