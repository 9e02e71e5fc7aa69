/**
 * The port for devices.
 *
 * <p>Entry: {@link dev.millrace.server.gateway.EdgeGateway}. Each connection is an {@code EdgeConnection}, on an event loop: it finds out who the device is, hands what it sends to
 * its streams' inlets ({@code server.device}), and says to it what became of that. What takes time, as checking a password, is done by other threads. The
 * protocol is {@code edge.wire}.
 */
package dev.millrace.server.gateway;
