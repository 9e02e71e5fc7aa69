/**
 * Where devices send to: a port, and a broker.
 *
 * <p>Entry: {@link dev.millrace.server.gateway.EdgeGateway}. Each connection is an {@code EdgeConnection}: it finds out who the device is, hands what it sends to
 * its streams' inlets ({@code server.device}), and says to it what became of that. What carries it is a {@code DeviceChannel}: a {@code SocketDevice} on an event
 * loop, or a {@code BrokerDevice}, of all of which the {@code BrokerGateway} has one thread. What takes time, as checking a password, is done by other threads. The
 * protocol is {@code edge.wire}.
 */
package dev.millrace.server.gateway;
