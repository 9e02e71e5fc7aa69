/**
 * Sinks that write files into a directory: rolled by size, time and checkpoints, in sub-directories by the values of columns, and seen by readers all at once.
 *
 * <p>Entry: {@link dev.millrace.connectors.directory.DirectorySink}, with a {@link dev.millrace.connectors.directory.PartFormat} that writes the files. A file
 * is written under a hidden name, {@code .part-SINK-NUMBER.csv.open}, beside the one that it is to have, {@code part-SINK-NUMBER.csv}: readers by pattern pass it by, and
 * giving it its name is one step. All by the sink's thread.
 *
 * <p>The token of a checkpoint, version 1, big-endian: {@code "files"} as {@code writeUTF}; version, 4 bytes; the last number given, 8 bytes; how many files, 4 bytes; of
 * each the directory below the sink's, as {@code writeUTF}, its number and its bytes, 8 bytes each, whether it is complete, 1 byte. Files that are not complete are gone on
 * with behind those bytes; hidden files that the token does not name were written later, and go.
 */
package dev.millrace.connectors.directory;
