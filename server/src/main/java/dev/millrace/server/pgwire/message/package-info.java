/**
 * The messages of PostgreSQL's protocol, version 3: from bytes to records and back.
 *
 * <p>Entries: {@link dev.millrace.server.pgwire.message.MessageDecoder} in a channel's pipeline,
 * {@link dev.millrace.server.pgwire.message.ClientMessage} for what comes out of it,
 * {@link dev.millrace.server.pgwire.message.ServerMessages} for what is sent. Lengths are checked before memory is taken.
 */
package dev.millrace.server.pgwire.message;
