#pragma once

namespace minisched {

// Turns on TCP keepalive for each connection that this process has to a `port`
// of some host: after 30 s of silence the kernel probes the peer every 15 s,
// and breaks the connection when nine probes have no answer. These are
// client-go's times.
//
// Looks through all descriptors, because cpprestsdk gives no way to the socket
// of a new connection: its set_nativehandle_options() is called before the
// socket is opened, and not at all for the second address of a host. On the I/O
// thread, where no connection of the client is closed meanwhile. Does what it
// can: without keepalive a connection works all the same.
void KeepConnectionsAlive(int port);

}  // namespace minisched
