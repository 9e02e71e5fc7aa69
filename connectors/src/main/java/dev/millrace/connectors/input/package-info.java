/**
 * Bytes of files: which files a path names, and their contents, unpacked and decoded, in off-heap memory.
 *
 * <p>Entry: {@link dev.millrace.connectors.input.FilePaths} and {@link dev.millrace.connectors.input.FileInput}. An input
 * belongs to one thread. {@link dev.millrace.connectors.input.RecordFiles} reads them for who knows records; nothing here does.
 */
package dev.millrace.connectors.input;
