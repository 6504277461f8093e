#pragma once

namespace minisched {

// Turns on TCP keepalive for each connection that this process has to a `port`
// of some host. After 30 s of silence the kernel probes the peer every 15 s,
// and breaks the connection when nine probes have no answer. These are
// client-go's times.
//
// Searches all descriptors, because cpprestsdk gives no access to the socket of
// a new connection: its set_nativehandle_options() is called before the socket
// is opened, and not at all for the second address of a host. REQUIRES: the
// caller is on the I/O thread, so that no connection of a client is closed
// meanwhile. Ignores failures: a connection works without keepalive too.
void KeepConnectionsAlive(int port);

}  // namespace minisched
