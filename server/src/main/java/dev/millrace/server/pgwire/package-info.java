/**
 * PostgreSQL's wire protocol, version 3, on Netty: any PostgreSQL client is a client of ours.
 *
 * <p>Entry: {@link dev.millrace.server.pgwire.PgServer}. Each connection has a {@code PgConnection} on its event loop, which
 * never waits, and a {@code Conversation} on a session thread, which answers messages in their order and may wait for epochs,
 * for rows, or for the client to read. A connection that has nothing to say holds no thread. What is known to wait for nobody,
 * a SELECT of constants whose plan is remembered, the event loop has answered by the {@code Conversation} itself, if no session
 * thread is at work for the connection: two hand-overs would cost more than such a statement.
 * So are INSERTs of values, prepared or not, outside of a transaction: the log tells the loop when they are on disk ({@code
 * HeldAnswers}). A client that writes alone gets a loop of its own ({@code OwnLoops}), which writes the log itself.
 *
 * <pre>
 *   event loop                                   session thread
 *   MessageDecoder -> PgConnection -> Inbox ->   Conversation -> Session
 *        ^                                            |
 *        +----------------- Outgoing <----------------+
 * </pre>
 */
package dev.millrace.server.pgwire;
