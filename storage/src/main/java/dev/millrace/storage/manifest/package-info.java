/**
 * Which snapshots make the newest checkpoint, and behind which record of the log it begins.
 *
 * <p>Entry: {@link dev.millrace.storage.manifest.Manifest}, for one thread at a time. A checkpoint is written in files with new names, and
 * counts from the moment its manifest has taken the place of the one before; until then, that one and its files are there. It does not know
 * what is in a snapshot, and not the log.
 *
 * <h2>The file {@code manifest}, format version 1</h2>
 *
 * <p>Written as a whole beside itself and renamed. Numbers are little endian, CRC is CRC-32C.
 *
 * <pre>
 *  0  8  "MrManife"
 *  8  4  format version, 1
 * 12  4  CRC of bytes 16 to the end
 * 16  8  number of the checkpoint, from 1; 0 while there is none
 * 24  8  number of the last record of the log that the checkpoint contains
 * 32  4  how many files it has; for each:
 *        8  its length in bytes
 *        4  the checksum of its trailer
 *        2  length of its name in bytes
 *           its name in UTF-8
 * </pre>
 *
 * <p>The files are {@code checkpoint-000000000001-0000.snapshot}, by the number of the checkpoint that they were written for and a number of
 * their own; a later checkpoint may go on using them. Such files that the manifest does not name are removed: they are of a checkpoint
 * that was not completed, or is past. The manifest is written when a directory is first used; that it is missing beside such files is
 * damage, XX001, as are files that it names and that are missing or of another length. A later version is F0000.
 */
package dev.millrace.storage.manifest;
