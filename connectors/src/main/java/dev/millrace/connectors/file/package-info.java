/**
 * The connector {@code file}: its options, its source and its sinks; and the sinks {@code print} and {@code blackhole}.
 *
 * <p>Entry: {@link dev.millrace.connectors.file.FileSourceFactory} and {@link dev.millrace.connectors.file.FileSinkFactory}.
 * Formats are in packages of their own. Factories and sources are immutable and safe on any thread; readers and sinks
 * belong to one thread at a time.
 */
package dev.millrace.connectors.file;
