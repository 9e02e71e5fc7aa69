/**
 * Batches as bytes on disk: raw columns, so that a row costs as little as a copy of its bytes.
 *
 * <p>Entry: {@link dev.millrace.storage.batch.BatchBytes}. Names of columns are not written, and types only as a hash: who reads knows
 * the schema. There is no checksum: files have their own.
 *
 * <p><b>A batch</b>, numbers little endian:
 *
 * <pre>
 *   1 byte   the version of this form: 1
 *   1 byte   flags: 1 there are weights, 2 the body is compressed
 *   4 bytes  the CRC-32C of the columns' types
 *   4 bytes  how many rows
 *   4 bytes  the length of the body, before compression
 *   body, as one block of LZ4 if it is compressed:
 *     8 bytes for each row  its weight, if there are weights
 *     the columns, one after the other
 * </pre>
 *
 * <b>A column</b> of n values:
 *
 * <pre>
 *   1 byte   0 no value is NULL, 1 some are, 2 all are, and nothing follows
 *   (n + 7) / 8 bytes, if some are  a bit for each value, set where it is not NULL, lowest first
 *   what follows is by its type:
 *     boolean          (n + 7) / 8 bytes, a bit for each value
 *     fixed width      the width for each value, as Arrow has it
 *     text, bytes      4 bytes for each value: where it ends; then all bytes
 *     arrays           4 bytes for each value: where its elements end; then a column of all elements
 *     rows             a column of n values for each field
 * </pre>
 *
 * What stands where a value is NULL is of no account.
 */
package dev.millrace.storage.batch;
