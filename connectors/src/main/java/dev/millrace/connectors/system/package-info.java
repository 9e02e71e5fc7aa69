/**
 * The connector {@code system}: the vital signs of the machine Millrace runs on, as a live stream.
 *
 * <p>Entry: {@link dev.millrace.connectors.system.SystemSourceFactory}, whose javadoc lists tables and columns. Figures
 * come from OSHI, on Linux, macOS and Windows. A reader belongs to one thread at a time; counters that are cheap to read
 * are read for every row, the others at most once in {@link dev.millrace.connectors.system.SystemSourceFactory}'s slow
 * period.
 */
package dev.millrace.connectors.system;
