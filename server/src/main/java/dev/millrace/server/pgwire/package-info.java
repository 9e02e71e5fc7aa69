/**
 * PostgreSQL's wire protocol, version 3, on Netty: any PostgreSQL client is a client of ours.
 *
 * <p>Entry: {@link dev.millrace.server.pgwire.PgServer}. Each connection has a {@code PgConnection} on its event loop, which
 * never waits, and a {@code Conversation} on a session thread, which answers messages in their order and may wait for epochs,
 * for rows, or for the client to read. A connection that has nothing to say holds no thread.
 *
 * <pre>
 *   event loop                                   session thread
 *   MessageDecoder -> PgConnection -> Inbox ->   Conversation -> Session
 *        ^                                            |
 *        +----------------- Outgoing <----------------+
 * </pre>
 */
package dev.millrace.server.pgwire;
