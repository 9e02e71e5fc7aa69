/**
 * What sources have in common that others push to: what comes waits, bounded, until the stream takes it, and whoever brought it is told
 * when it is kept.
 *
 * <p>Entry: {@link dev.millrace.connectors.push.RecordReceiver}, the reader of every such source. A transport's threads put {@link
 * dev.millrace.connectors.push.Consignment}s into its {@link dev.millrace.connectors.push.ArrivalQueue}; the stream's thread polls, which decodes.
 *
 * <pre>
 *   transport's threads -> ArrivalQueue (bounded) -> RecordReceiver.poll -> the stream -> acknowledge -> Consignment.kept, on the stream's thread
 * </pre>
 */
package dev.millrace.connectors.push;
