/**
 * Files that are written once, as a stream of named sections, and read section by section: the rows of tables, the state of operators.
 *
 * <p>Entries: {@link dev.millrace.storage.snapshot.SnapshotWriter} and {@link dev.millrace.storage.snapshot.SnapshotReader}. Each is used by
 * one thread at a time and holds one block in memory, whatever the length of a section. Which files count is the manifest's to say; what
 * is in a section, its writer's.
 *
 * <h2>The file, format version 1</h2>
 *
 * <p>Numbers are little endian, CRC is CRC-32C. Everything follows what is before it without a gap.
 *
 * <pre>
 * header, 32 bytes
 *   0  8  "MrSnapsh"
 *   8  4  format version, 1
 *  12  4  CRC of bytes 16 to 31
 *  16 16  zero
 *
 * blocks, those of a section one after the other
 *   0  4  CRC of bytes 4 to the end, xor the low 32 bits of the block's offset in the file times 0x9E3779B1
 *   4  4  length of its contents in bytes, 1 to 1,048,576; only the last block of a section has fewer than the most
 *   8  4  number of its section, from 0
 *  12  4  number of the block in its section, from 0
 *  16     contents
 *
 * table of sections, for each:
 *   0  8  offset of its first block
 *   8  8  bytes of contents
 *  16  4  CRC of the checksums of its blocks
 *  20  2  length of its name in bytes
 *  22     its name in UTF-8
 *
 * trailer, 40 bytes
 *   0  8  offset of the table
 *   8  8  length of the file in bytes
 *  16  4  number of sections
 *  20  4  zero
 *  24  4  CRC of the table
 *  28  4  CRC of bytes 0 to 27 of the trailer; by it the manifest knows the file
 *  32  8  "MrSnapEn"
 * </pre>
 *
 * <p>There is no torn end: a file counts once it is whole and forced, and the manifest names it. All that is otherwise than written here is
 * damage, XX001 with file, offset and section. A later version is F0000.
 */
package dev.millrace.storage.snapshot;
