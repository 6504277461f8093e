#pragma once

namespace minisched {

// What plugins note down for one pod, from one extension point to the next.
class CycleState {};

}  // namespace minisched
