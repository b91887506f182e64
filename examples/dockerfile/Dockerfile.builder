# An image in which compatpack runs, built from this project's sources: the BUILDER of the other two.
#
#   docker build -t compatpack-builder -f examples/dockerfile/Dockerfile.builder CHECKOUT
#
# Its size does not matter: of an image built with it only the tree remains.
ARG DEBIAN=debian:12
FROM ${DEBIAN}
COPY scripts/setup /src/scripts/setup
RUN /src/scripts/setup
COPY CMakeLists.txt LICENSE /src/
COPY packaging /src/packaging
COPY third_party /src/third_party
COPY include /src/include
COPY src /src/src
RUN cmake -S /src -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCOMPATPACK_TESTS=OFF \
  && cmake --build /build --target compatpack \
  && install -s /build/compatpack /usr/local/bin
