/**
 * Segments of one stream in a file, one behind the other.
 *
 * <pre>
 * 4 bytes  "MRSK"
 * 1 byte   format of the file, 1
 * 1 byte   1 when times are written as timestamps, 0 when as numbers
 * then for each segment: 4 bytes its length, least significant first, and its bytes
 * </pre>
 *
 * <p>Entry: {@link dev.millrace.sketch.file.SketchFile}. One thread.
 */
package dev.millrace.sketch.file;
