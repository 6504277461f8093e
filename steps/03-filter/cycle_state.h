#pragma once

namespace minisched {

// Data that plugins keep for one pod, from one extension point to the next.
class CycleState {};

}  // namespace minisched
