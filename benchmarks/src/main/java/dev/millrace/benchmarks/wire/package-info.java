/**
 * How fast a server of PostgreSQL's protocol is: rows in and out, statements, subscribers, and many clients at once.
 *
 * <p>Entry: {@link dev.millrace.benchmarks.wire.WireCommand}, {@code ./millrace bench wire}. The client is ours and does as
 * little as possible, so that the server is what is measured; with {@code --postgresql} the same is asked of PostgreSQL.
 * {@link dev.millrace.benchmarks.wire.DurableCommand}, {@code ./millrace bench durable}, starts both and has them take turns.
 * {@link dev.millrace.benchmarks.wire.DefinitionsCommand}, {@code ./millrace bench definitions}, makes very many queries.
 */
package dev.millrace.benchmarks.wire;
