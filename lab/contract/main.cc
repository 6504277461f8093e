// Tests that an API server behaves as clients of kube-apiserver expect.

#include <gmock/gmock.h>

#include "lab/contract/server_testing.h"

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  testing::AddGlobalTestEnvironment(&minisched::ServerUnderTest::Instance());
  return RUN_ALL_TESTS();
}
