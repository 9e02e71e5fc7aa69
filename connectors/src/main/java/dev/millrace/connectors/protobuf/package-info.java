/**
 * Protocol buffers' binary form, by descriptors of a file, of an option or of a registry.
 *
 * <p>Entry: {@link dev.millrace.connectors.protobuf.ProtobufRecordFormatFactory}. For each message type a {@code ProtobufPlan} knows by their
 * numbers the fields that are columns: they are put straight from the bytes, all others passed over. What becomes JSONB goes by way of a dynamic
 * message. Decoders belong to one thread, formats are immutable.
 */
package dev.millrace.connectors.protobuf;
