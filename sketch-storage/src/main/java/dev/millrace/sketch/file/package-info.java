/**
 * Segments of one stream in a file, one behind the other: this page is the format, version 2. Numbers have their least significant
 * byte first.
 *
 * <pre>
 * 4 bytes  "MRSK"
 * 1 byte   format of the file, 2
 * 1 byte   1 when times are written as timestamps, 0 when as numbers
 * 2 bytes  0
 * 8 bytes  drawn at random
 * then records:
 *   4 bytes  length, 30 bits; above it 0 segment, 1 announcement of a version, 2 index
 *   4 bytes  CRC-32C of this field of the record before (of the first 16 bytes, for the first), of the length, and of the bytes
 *   bytes    a segment or an announcement as package segment has them, or the index
 * index
 *   8 bytes  where the index before begins, 0 for the first; 8 bytes segments in the file so far; 4 bytes blocks. Per block of at most 256
 *            segments: 8 bytes where its first record begins, 8 bytes where its last ends, 4 bytes checksum field of the record before
 *            it, 4 bytes segments, 8 bytes rows, 8 bytes lowest and 8 bytes highest time that they may hold
 *   4 bytes  CRC-32C of the index so far
 * and behind each index
 *   8 bytes  where it begins
 *   4 bytes  "KSRM"
 * </pre>
 *
 * <p>A file is whole when it ends so. Appending goes on behind that, and ends with another index; a crash in the midst of it leaves a file
 * that does not end so, of which all records before are good. As each record's checksum has that of the one before in it, one that is
 * missing, exchanged, or of another file is found where it should be. Versions that a block's segments refer to and do not announce
 * themselves stand before them in the block, so a block can be read alone.
 *
 * <p>Format 1 had a header of 6 bytes, and per segment 4 bytes of length and its bytes. It is read, and written anew by {@code recover}.
 *
 * <p>Entry: {@link dev.millrace.sketch.file.SketchFile} for a file in memory, {@link dev.millrace.sketch.file.SketchFileReader} and
 * {@link dev.millrace.sketch.file.SketchFileWriter} for any size, {@link dev.millrace.sketch.file.SketchFiles} for retention and repair.
 * One thread each.
 */
package dev.millrace.sketch.file;
