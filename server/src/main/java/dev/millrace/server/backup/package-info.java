/**
 * Copies of data directories: of one that a database has open, of one that nobody has, and back.
 *
 * <p>Entry: {@link dev.millrace.server.backup.DatabaseBackup} (with {@code BACKUP TO}), {@link dev.millrace.server.backup.DirectoryBackup}
 * and {@link dev.millrace.server.backup.Restore}. Each is for one thread. Why it is as it is: {@code docs/decisions/0064}.
 *
 * <p>A backup is a data directory ({@code server.storage}) with one file more. It is written beside its place as {@code TARGET.partial}, forced,
 * read again, and renamed.
 *
 * <h2>The file {@code backup.list}, format version 1</h2>
 *
 * <p>Lines of ASCII, each ended by a line feed:
 *
 * <pre>
 *   millrace-backup 1
 *   as-of MICROS                  of which moment it is, in microseconds since 1970 UTC
 *   SHA256 BYTES NAME             of each file, 64 hexadecimal digits, its length, its name from the directory on
 *   end SHA256                    of all bytes before this line
 * </pre>
 *
 * <p>A database does not open a directory that has this file: what is in it would not be what the list says.
 */
package dev.millrace.server.backup;
