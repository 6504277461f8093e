// Leases, which clients use for leader election.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using LeaseTest = ContractTest;

constexpr char kSpec[] = R"({"spec": {
  "holderIdentity": "me", "leaseDurationSeconds": 15, "leaseTransitions": 1,
  "acquireTime": "2020-01-01T00:00:00.000000Z",
  "renewTime": "2020-01-01T00:00:00.123456Z"}})";

TEST_F(LeaseTest, CreatesALease) {
  EXPECT_THAT(Post("leases", Named("l", json::parse(kSpec))),
              Answers(201, json::parse(kSpec)));
  EXPECT_THAT(Post("leases", Named("m")), Answers(201, R"({
    "metadata": {"generation": null}, "spec": {}})"_json));
}

// Of two updates of the same version, only the first succeeds.
TEST_F(LeaseTest, RejectsAConcurrentUpdate) {
  json lease = Create("leases", Named("l", json::parse(kSpec)));
  json other = lease;
  lease["spec"]["holderIdentity"] = "a";
  other["spec"]["holderIdentity"] = "b";
  EXPECT_THAT(Put("leases/l", lease), Answers(200));
  EXPECT_THAT(Put("leases/l", other), Refuses(409, "Conflict", testing::_));
  EXPECT_THAT(Get("leases/l"),
              Answers(200, R"({"spec": {"holderIdentity": "a"}})"_json));
}

TEST_F(LeaseTest, RejectsInvalidFields) {
  EXPECT_THAT(
      Post("leases", Named("l", R"({"spec": {"leaseDurationSeconds": 0,
                                    "leaseTransitions": -1}})"_json)),
      Invalid("Lease.coordination.k8s.io", "l",
              {"spec.leaseDurationSeconds: Invalid value: 0: must be greater "
               "than 0",
               "spec.leaseTransitions: Invalid value: -1: must be greater than "
               "or equal to 0"}));
}

TEST_F(LeaseTest, TimesNeedMicroseconds) {
  EXPECT_THAT(
      Post("leases", Named("l", R"({"spec": {"renewTime":
                                    "2020-01-01T00:00:00Z"}})"_json)),
      Refuses(400, "BadRequest",
              testing::StartsWith(
                  "Lease in version \"v1\" cannot be handled as a Lease: "
                  "parsing time \"2020-01-01T00:00:00Z\" as "
                  "\"2006-01-02T15:04:05.000000Z07:00\": cannot parse ")));
}

}  // namespace
}  // namespace minisched
