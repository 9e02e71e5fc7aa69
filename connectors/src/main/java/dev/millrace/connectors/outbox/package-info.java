/**
 * Exactly once into outsides that forget what is not committed when the connection is gone: brokers, databases, HTTP.
 *
 * <p>Entry: {@link dev.millrace.connectors.outbox.OutboxSink}, made of {@link dev.millrace.connectors.outbox.OutboxRows}, which make records
 * of rows, and a {@link dev.millrace.connectors.outbox.Delivery}, which takes the records of a checkpoint to the outside together with the
 * checkpoint's number. Records lie in files of the sink's own directory between the two. The sink's thread writes files, a thread of the
 * outbox delivers them. {@link dev.millrace.connectors.outbox.SpoolVerification} looks at directories that nobody has open.
 *
 * <p>A file {@code NUMBER.spool} has the records between two cuts; numbers grow. Version 1, big-endian:
 *
 * <pre>
 *   file   = "MRSP", 4 bytes | version, 4 bytes | the file's number, 8 bytes | CRC-32C of the 16 bytes before, 4 bytes | record*
 *   record = length, 4 bytes | CRC-32C of the length and the bytes, 4 bytes | so many bytes
 * </pre>
 *
 * The token of a checkpoint names the files that are to be delivered, version 1: {@code "outbox"} as {@code writeUTF}; version, 4 bytes; how many
 * files, 4 bytes; of each its number, the checkpoint at whose cut it ended, its bytes and its records, 8 bytes each. What is behind a file's bytes,
 * and files that the token does not name, were written later.
 */
package dev.millrace.connectors.outbox;
