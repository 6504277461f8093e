# The image of one step: docker build --build-arg STEP=27 -t minisched:27 .
# docs/reference/in-a-cluster.md explains how to run it.

FROM debian:12-slim AS build
# Debian 12 keeps the versions of its packages, except for fixes.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends \
      cmake g++ libboost-dev libcli11-dev libcpprest-dev libexpected-dev \
      libhowardhinnant-date-dev libspdlog-dev libssl-dev libyaml-cpp-dev \
      ninja-build nlohmann-json3-dev pkg-config prometheus-cpp-dev zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
# The library is in layers of its own, which the images of all steps share.
COPY CMakeLists.txt CMakePresets.json ./
COPY cmake cmake
COPY minisched minisched
RUN cmake --preset schedulers \
    && cmake --build --preset schedulers --target minisched_config
COPY steps steps
ARG STEP
RUN test -n "$STEP" \
    || { echo "no step: give --build-arg STEP=01, or a later step" >&2; exit 1; }
RUN cmake --preset schedulers \
    && cmake --build --preset schedulers --target "minisched-$STEP" \
    && strip -o minisched "build/schedulers/bin/minisched-$STEP"

FROM debian:12-slim
# scripts/tests/image_test compares these packages with the libraries that the
# programs are linked to.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends \
      libcpprest2.10 libfmt9 libprometheus-cpp-core1.0 libspdlog1.10 libssl3 \
      libyaml-cpp0.7 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/minisched /usr/local/bin/minisched
# A number, so that the kubelet can check runAsNonRoot.
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/minisched"]
