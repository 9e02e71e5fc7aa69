/**
 * The connector {@code system}: the vital signs of the machine Millrace runs on, as a live stream.
 *
 * <p>Entry: {@link dev.millrace.connectors.system.SystemSourceFactory}, whose javadoc lists tables and columns. Figures
 * come from OSHI, on Linux, macOS and Windows. A reader belongs to one thread at a time; processor and
 * memory are read for every row; disks and interfaces five times, the rest once a second at most.
 */
package dev.millrace.connectors.system;
