/**
 * How records of bytes become rows and rows become records: formats know no transport, and transports no format.
 *
 * <p>Entry: {@link dev.millrace.format.RecordFormatFactory}. A transport (Kafka, MQTT, files) has {@link
 * dev.millrace.format.EncodedRecords}, which say where in memory each record lies; a {@link dev.millrace.format.RecordDecoder} makes
 * Arrow columns of them, a {@link dev.millrace.format.RecordEncoder} records of a batch. What cannot become a row is told to the
 * transport, which knows where it came from and what {@code on_error} wants.
 */
package dev.millrace.format;
