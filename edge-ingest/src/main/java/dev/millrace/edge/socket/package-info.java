/**
 * Connections to machines elsewhere, with and without TLS.
 *
 * <p>Entry: {@link dev.millrace.edge.socket.RemoteHost}. Stateless; whoever connects waits for it on a thread of its own.
 */
package dev.millrace.edge.socket;
