/**
 * Column segments: rows of a stream in a file that is written once, block by block, each column by itself.
 *
 * <p>Entries: {@link dev.millrace.storage.segment.ColumnSegmentWriter}, for one thread, holds one block in memory; {@link
 * dev.millrace.storage.segment.ColumnSegment} is a file that is whole, which any number of threads scan, each by a {@link
 * dev.millrace.storage.segment.SegmentScan} of its own. Rows have no weights: what is retained was only added. Which segments a stream has is
 * {@code retention}'s to say.
 *
 * <h2>The file, format version 1</h2>
 *
 * <p>Numbers are little endian, CRC is CRC-32C. Everything follows what is before it without a gap.
 *
 * <pre>
 * header, 32 bytes
 *   0  8  "MrColumn"
 *   8  4  format version, 1
 *  12  4  CRC of bytes 16 to 31
 *  16  4  hash of the columns' types, as batches have it
 *  20 12  zero
 *
 * columns, for each block one of each column, in their order: encoded as {@code storage.column} says, then compressed or not
 *
 * footer
 *   0  4  number of columns
 *   4  4  number of blocks; for each:
 *         4  number of rows, 1 to 32,768; for each column:
 *            4  length in bytes in the file
 *            4  length before it was compressed
 *            1  compression: 0 none, 1 LZ4 (a block), 2 zstd (a frame)
 *            4  CRC of what is in the file, xor the low 32 bits of its offset times 0x9E3779B1
 *            4  how many of its values are NULL
 *            1  whether bounds follow; then for the least and the greatest:
 *               1  length in bytes, at most 32
 *                  sort key, cut to that
 *
 * trailer, 48 bytes
 *   0  8  offset of the footer
 *   8  8  length of the file in bytes
 *  16  8  number of rows
 *  24  4  CRC of the footer
 *  28  4  hash of the columns' types
 *  32  4  zero
 *  36  4  CRC of bytes 0 to 35 of the trailer; by it a manifest knows the file
 *  40  8  "MrColEnd"
 * </pre>
 *
 * <p>A sort key is a value as bytes that sort, unsigned and the shorter first, as SQL sorts values: integers and times as 8 bytes, big endian,
 * the sign bit inverted; floating-point numbers by their bits, all but the sign inverted where they are negative, then as integers; NUMERIC as 16
 * bytes like integers; texts, BYTEA and UUID as they are.
 *
 * <p>There is no torn end: a file counts once it is whole and forced, and a manifest names it. All that is otherwise than written here is
 * damage, XX001 with file, offset, and the column and block that it is in. A later version is F0000.
 */
package dev.millrace.storage.segment;
