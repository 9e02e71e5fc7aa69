/**
 * Encrypted connections: when they are asked for, with which certificate, and what binds a login to them.
 *
 * <p>Entry: {@link dev.millrace.server.tls.Tls#open}, once per server. Immutable after that, and safe on any thread. Knows
 * files and certificates; how a connection turns to TLS is up to the protocol that runs over it.
 */
package dev.millrace.server.tls;
