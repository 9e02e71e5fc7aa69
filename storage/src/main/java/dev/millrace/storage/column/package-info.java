/**
 * Columns as few bytes: what a column of a block of rows is encoded to, and how it is read back into Arrow vectors.
 *
 * <p>Entries: {@link dev.millrace.storage.column.ColumnBuffer} gathers values and encodes them, {@link
 * dev.millrace.storage.column.ColumnDecoder} makes a vector of the bytes, {@link dev.millrace.storage.column.PackedColumn} is a column
 * after compression. All belong to one thread at a time. Neither a file nor a checksum: those are {@code segment}'s. Bytes are expected to
 * have been checked, and none is trusted all the same: what cannot be is an {@link dev.millrace.storage.column.EncodingException}.
 *
 * <h2>The bytes of a column, format version 1</h2>
 *
 * <p>Numbers are little endian. A <i>section</i> is its length, 4 bytes, and so many bytes. <i>Integers</i> are a section as described below;
 * how many there are is known to the reader.
 *
 * <pre>
 * column
 *   1      NULLs: 0 none, 1 some, 2 all, after which nothing follows
 *          if some: a bit for each value, set where it is not NULL, least significant first, to whole bytes
 *          values by type; what is under a NULL is anything
 *
 * BOOLEAN                              1 byte: 0 all false, 1 all true, 2 mixed, followed by bits as above
 * SMALLINT, INTEGER, BIGINT, DATE,
 * TIME, TIMESTAMP, TIMESTAMPTZ         integers
 * REAL, DOUBLE                         1 byte, 0: integers, their IEEE 754 bits
 *                                      1: 1 byte, an exponent e of 0 to 18; 4 bytes, number of exceptions; integers, places of those,
 *                                      rising; integers, their bits; integers n: the value is n / 10^e, rounded once
 * NUMERIC                              1 byte, 0: integers, the unscaled values; 1: integers, their lower 64 bits, and integers, the upper
 * INTERVAL                             integers, months; integers, days; integers, nanoseconds
 * TEXT, VARCHAR, CHAR, JSONB, BYTEA,
 * BIGNUM, UUID                         1 byte, 0: integers, lengths in bytes; 4 bytes, length of all together, and these
 *                                      1: 4 bytes, number of distinct values; those as under 0; integers, which of them
 * ARRAY                                integers, numbers of elements; a column of all elements
 * ROW                                  a column for each field
 * NULL                                 nothing; all are NULL
 *
 * integers
 *   1      encoding, and 16 if scaled
 *          if scaled: 8 bytes base, 8 bytes factor: what is encoded is (value - base) / factor. Arithmetic is modulo 2^64
 *   0      constant: 8 bytes, the value
 *   1      packed, by groups of 1,024: 8 bytes least value, 1 byte width of 0 to 64 bits; value - least value of each, packed from the
 *          least significant bit on, to whole bytes
 *   2      differences: 8 bytes, what is before the first value; what each value is above the one before, as packed
 *   3      runs: 4 bytes, how many, at most 65,536; integers, the values; integers, their lengths
 *   4      dictionary: 4 bytes, how many distinct values, at most 65,536; integers, those; integers, which of them
 * </pre>
 *
 * <p>Where there are several forms, the writer takes what is shortest by its reckoning. Integers within runs and dictionaries are never of
 * these two again. Decimals of a few digits are what sensors give (ALP, SIGMOD 2024, has the idea); by a division, not by multiplying with
 * an inverse, they come back exactly for any number of digits. Frames of reference with bit packing: Zukowski et al., ICDE 2006.
 */
package dev.millrace.storage.column;
