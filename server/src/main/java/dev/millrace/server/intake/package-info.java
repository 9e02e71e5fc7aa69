/**
 * Streams that others push records to: brokers, webhooks, sockets. Their rows are accepted as those of INSERT are, by the same journal,
 * and whoever brought them hears of it when it has them on disk.
 *
 * <p>Entry: {@link dev.millrace.server.intake.Intakes}, which has an {@code Intake} for each stream: a thread that polls the connector's
 * reader, has the stream accept what it gives, and waits where queries are behind or the disk takes nothing, which is how a peer is made
 * to wait. What a source remembers beside the rows, such as idempotency keys, is a table that no statement sees
 * ({@code StreamMemory}): a change of it and rows are one entry of the journal.
 *
 * <pre>
 *   peers -> PushedReader -> Intake (1 thread a stream) -> stream and memory, one entry -> on disk -> acknowledged
 * </pre>
 */
package dev.millrace.server.intake;
