/**
 * What brings rows in and takes them out: the contracts that connectors implement.
 *
 * <p>Entry: {@link dev.millrace.connector.Source} and {@link dev.millrace.connector.Sink}. A connector knows batches and
 * options, never queries.
 */
package dev.millrace.connector;
