/**
 * What sinks have in common that keep the newest row of each key outside.
 *
 * <p>Entry: {@link dev.millrace.connectors.upsert.UpsertEpoch}, of one sink's thread; {@link dev.millrace.connectors.upsert.KeyOption}.
 * Knows nothing of what rows are written to.
 */
package dev.millrace.connectors.upsert;
