// Checks an API server against what clients of kube-apiserver rely on.

#include <gmock/gmock.h>

#include "lab/contract/server_testing.h"

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  testing::AddGlobalTestEnvironment(&minisched::ServerUnderTest::Instance());
  return RUN_ALL_TESTS();
}
