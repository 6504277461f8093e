#include "minisched/api/options.h"

#include "minisched/api/codec.h"

namespace minisched {

struct Preconditions {
  std::string uid;
};

template <class Visitor, MaybeConst<Preconditions> T>
void VisitFields(Visitor& visit, T& preconditions) {
  visit("uid", preconditions.uid);
}

template <class Visitor>
void VisitFields(Visitor& visit, const DeleteOptions& options) {
  visit("gracePeriodSeconds", options.grace_period_seconds);
  visit("preconditions", Preconditions{options.uid});
}

template <class Visitor, MaybeConst<VersionInfo> T>
void VisitFields(Visitor& visit, T& version) {
  visit("gitVersion", version.git_version);
  visit("platform", version.platform);
}

template std::string ToJson<DeleteOptions>(const DeleteOptions&);
template VersionInfo FromJson<VersionInfo>(std::string_view, bool);

}  // namespace minisched
