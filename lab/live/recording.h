#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/live/record_lines.h"

namespace minisched::live {

// A recording as a page shows it: one of --record, or of
// kube-scheduler-simulator. The latter has no records, so its attempts come
// from the annotations that the simulator writes to pods.
class Recording {
 public:
  // Reads the file. Throws RecordingError.
  explicit Recording(std::string path);

  // Returns all changes, in the order of their times; at least one.
  const std::vector<Item>& items() const { return items_; }
  // Returns the program of the scheduler, or else the name of the file.
  const std::string& program() const { return program_; }
  // Returns the spec.schedulerName of the scheduler's pods.
  const std::string& scheduler() const { return scheduler_; }

  // Returns the keys of all attempts.
  std::vector<std::string> AttemptKeys() const;
  // Returns the full record of an attempt, or nullopt if there is none.
  std::optional<std::string> FindAttempt(const std::string& key) const;

 private:
  const std::string path_;
  std::vector<Item> items_;
  std::string program_;
  std::string scheduler_;
  std::map<std::string, LinePlace> attempts_;     // the last line of each
  std::map<std::string, std::string> annotated_;  // those of annotations
};

}  // namespace minisched::live
