/**
 * The write-ahead log: records of bytes in the order in which they were appended, on disk before anybody relies on them.
 *
 * <p>Entry: {@link dev.millrace.storage.log.WriteAheadLog}, which any thread calls; who waits for the disk writes, or a thread of its own
 * ("millrace-log"). Below it {@code LogBuffer} says who, {@code LogWriter} is what that thread drives, {@code LogReader} reads what is there,
 * {@code LogDirectory} makes and removes segments, and {@code LogRoom} counts what they have room for. Not a format of rows: a record is what the
 * caller gave. Why it is as it is: {@code docs/decisions/0046} and {@code 0052}.
 *
 * <h2>The files, format version 1</h2>
 *
 * <p>Numbers are little endian. CRC is CRC-32C (Castagnoli).
 *
 * <p><b>{@code log.state}</b>, 96 bytes, written as a whole beside itself and renamed: what is certain of the log, so that a file that is
 * lost is missed. It may be behind what is there, never ahead.
 *
 * <pre>
 *  0  8  "MrLogSta"
 *  8  4  format version, 1
 * 12  4  CRC of bytes 16 to 95
 * 16  8  identity of the log, random: files of another are not taken for its own
 * 24  8  number of the first segment that is kept
 * 32  8  number of the newest segment; one more may be there, empty; 0 before there is one
 * 40  8  number of a record that is durable, as all before it are
 * 48  8  where the newest segment ended when the log was closed; 0 when it was not, or has been written to since
 * 56 40  zero
 * </pre>
 *
 * <p><b>{@code segment-000000000001.log}</b>, by its number: a header of 4,096 bytes, then fragments. All bytes of a segment are
 * written with zeros, or with what an old segment was, before it gets its name.
 *
 * <pre>
 *  0  8  "MrLogSeg"
 *  8  4  format version, 1
 * 12  4  CRC of bytes 16 to 4,095; its seed (see below)
 * 16  8  identity of the log
 * 24  8  number of the segment
 * 32  8  length of the file in bytes
 * 40  8  number of the segment that this one goes on from; 0 for the first
 * 48  8  where that one ends: its bytes from there on are void, whatever they are, as are segments between the two
 * 56  8  number of the last whole record before this segment; 0 before there is one
 * 64  8  number of the segment in which that record ends
 * 72  8  where it ends there
 * 80     zero to byte 4,095
 * </pre>
 *
 * When a header is there, everything before the end that it names had been forced to disk.
 *
 * <p><b>A fragment</b> begins at a multiple of 8 and is a record, a part of one, or a mark:
 *
 * <pre>
 *  0  4  CRC of bytes 4 to its end, xor the segment's seed, xor the low 32 bits of its position times 0x9E3779B1
 *  4  4  length of its contents in bytes, 0 to 262,144
 *  8  8  number of its record; of a mark: that of the last record before it
 * 16  8  number of the last record that had been forced to disk when this fragment was written
 * 24  4  how much higher the number is than that of the whole record before it: 1, or more where records between
 *        failed or were given up; 0 for a mark
 * 28  4  kind: 1 whole record, 2 first part, 3 middle part, 4 last part, 5 mark
 * 32     contents, then zeros to a multiple of 8
 * </pre>
 *
 * Parts of a record follow each other, over the ends of segments. A record whose last part is missing was given up when a first part or a
 * whole record follows. The CRC holds a fragment to its segment, as the seed has its number, and to its place: what is left of an old
 * life of the file is never taken for new, and no place of a segment is written a second time in one life but what lies behind a clean end.
 *
 * <p><b>{@code spare-7}</b>, with any number: a segment that has not got its name yet, or has lost it. It holds nothing, and is removed
 * when the log is opened, as is {@code log.state.new}, which will be the next {@code log.state}.
 *
 * <h2>What is a torn end, and what is damage</h2>
 *
 * <p>Only the newest segment may have a torn end: the first place where no fragment is. It is torn when nothing says that a record from
 * there on was durable: neither {@code log.state}, nor a mark or another fragment anywhere behind. It is cut off: the next segment's header
 * says where, and a notice how much. Everything else is damage, XX001 with file, offset and record: another fragment than the next one, an
 * end that is not where the header after it says, a missing or foreign segment, a file of another length, a missing state. The bytes behind
 * the end of a segment hold nothing and are not looked at.
 *
 * <p>The mark is written when a group is on disk and nobody has had anything to write for a millisecond, and is not forced: from then on damage to the
 * last group is told from a torn end, too. A log that was closed has its end in {@code log.state}.
 */
package dev.millrace.storage.log;
