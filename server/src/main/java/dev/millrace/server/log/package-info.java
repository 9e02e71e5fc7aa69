/**
 * What the server says of itself while it runs: events with fields, as lines for people or as JSON.
 *
 * <p>Entry: {@link dev.millrace.server.log.EventLog}; {@link dev.millrace.server.log.Logs} decides where they go. Libraries
 * log through SLF4J and {@code java.util.logging} to the same place. Safe on any thread. Never logged: passwords, keys,
 * texts of statements, values of rows.
 */
package dev.millrace.server.log;
