/**
 * Streams of lines that come by TCP, in datagrams, or by standard input.
 *
 * <p>Entry: {@link dev.millrace.connectors.socket.SocketSourceFactory} and {@link dev.millrace.connectors.socket.StdinSourceFactory}. Who
 * sends by TCP is not read from while the stream takes nothing, which is how it is made to wait; of datagrams some are thrown away then.
 */
package dev.millrace.connectors.socket;
