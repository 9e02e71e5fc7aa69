/**
 * Records that say what changes in a table: the envelopes of Debezium and of records by key.
 *
 * <p>Entry: {@link dev.millrace.connectors.envelope.EnvelopeFormats}, a format around others whose rows are a {@link
 * dev.millrace.connectors.envelope.ChangeKind} and the columns; {@link dev.millrace.connectors.envelope.EnvelopeFeed}, which brings them into a
 * table together with the position of their source. Transports give records as they do to any format, and know no envelope.
 *
 * <pre>
 *   record -> EnvelopeReading: which stretch of it is a row, and what happens to it -> PartDecoder: another format decodes the stretch
 *          -> ChangeDecoder: kind and columns -> EnvelopeFeed -> FedTable.change(rows, position)
 * </pre>
 */
package dev.millrace.connectors.envelope;
