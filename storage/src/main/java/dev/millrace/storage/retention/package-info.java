/**
 * What a stream keeps of its past: segments, in the order in which their rows were accepted, and the rows that are not in one yet.
 *
 * <p>Entry: {@link dev.millrace.storage.retention.SegmentStore}, one for each stream, with a directory of its own. Rows are appended by one
 * thread; scans, flushing, merging and dropping go on beside that and each other, on any threads. A scan pins the segments that it reads:
 * their files are there until it is closed. Not a log: rows that were not flushed are lost with the process, and {@link
 * dev.millrace.storage.retention.SegmentStore#lastEntry} says from where the log of rows must give them again. Where rows are in no log, and are made
 * again from some entry on, {@link dev.millrace.storage.retention.SegmentStore#cutBack} forgets those behind it. {@link
 * dev.millrace.storage.retention.RetentionVerification} reads every byte of a directory.
 *
 * <p>Each segment ({@code storage.segment}) has the stream's columns and two more: {@code #entry} (BIGINT), the number of the entry of the log
 * by which a row was accepted, and {@code #arrival} (TIMESTAMPTZ), when.
 *
 * <p>Segments that were written again may be <i>sketched</i>: of the stream's {@link dev.millrace.storage.retention.SegmentForm}, with two more columns,
 * {@code #series} (INTEGER) and {@code #sketch} (BYTEA), of which that says what they mean. They come before all exact ones.
 *
 * <h2>The file {@code segments}, format version 4</h2>
 *
 * <p>Written as a whole beside itself and renamed. Numbers are little endian, CRC is CRC-32C.
 *
 * <pre>
 *  0  8  "MrSegLst"
 *  8  4  format version, 4
 * 12  4  CRC of bytes 16 to the end
 * 16  8  a number that no segment has had yet
 * 24  8  number of the last entry whose rows were flushed, kept or dropped since
 * 32  8  how many rows were dropped
 * 40  4  hash of the columns' types, those two included
 * 44  4  how many segments
 * 48  8  identity of the log whose entries they are, 0 if that is not known; missing in version 1
 * 56  8  number of the last entry of which rows were dropped, 0 if there is none or it is not known; missing in versions 1 and 2
 * 64     for each segment, in the order of their entries:
 *        8  its number
 *        8  its length in bytes
 *        4  the checksum of its trailer
 *        8  its rows, at least 1
 *        8  first entry    8  last entry
 *        8  first arrival  8  last arrival, in microseconds
 *        1  bit 0: it has event times; bit 1: it is sketched (not before version 4). If it has event times:
 *           8  least        8  greatest, in microseconds
 * </pre>
 *
 * <p>The files are {@code 000000000001.columns}, by their numbers. Such files that the list does not name are removed: they were not
 * completed, or are merged, or dropped. The list is written when a directory is first used; that it is missing beside such files is damage,
 * XX001. So are files that it names and that are missing or of another length: a store opens without them and says so, and scans that come to
 * one fail. A later version is F0000.
 */
package dev.millrace.storage.retention;
