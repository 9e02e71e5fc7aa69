/**
 * What a device keeps until the server has it, on a disk that is small and a machine that loses power.
 *
 * <p>Entry: {@link dev.millrace.edge.queue.EdgeQueue}, of one thread. It is a log of commits: each is on disk as a whole or not at
 * all, and has closed segments, the bins that they refer to, the rows of open segments, and the place of the input up to which that is
 * everything, and the open groups of windows; so a device that is killed goes on as if it had never read further than its last commit. Not here: what a segment means,
 * and how it is sent. Why it is as it is: {@code docs/decisions/0099}.
 *
 * <h2>Places</h2>
 *
 * <p>Each stream's records are numbered from 1 without gaps. A record is a segment, a segment made of several adjacent ones, which has all their
 * numbers, partial aggregates of windows, or a note: that the rows of some numbers were shed, or which records of the input were no rows. The server acknowledges numbers when it has them on disk.
 *
 * <pre>
 *   acknowledged | in doubt: may have been sent | waiting: may be shed, or merged to a wider bound | next
 * </pre>
 *
 * <p>What is in doubt is neither shed nor merged, as the server may have it already: where doubt ends is on disk before anything is sent beyond it.
 *
 * <h2>The files, format version 4</h2>
 *
 * <p>{@code queue-0000000001.log}, by its number; numbers are big endian. A header of 48 bytes:
 *
 * <pre>
 *  0  8  "MrEdgeQu"
 *  8  4  format version, 4; 1 had no counts, 2 no notes of rejected records, 3 no partial aggregates of windows; all are read
 * 12  4  CRC-32C of bytes 16 to 47
 * 16  8  identity of the queue, random: the server counts numbers by it
 * 24  8  number of the file
 * 32  8  where the file before ends; what is behind that is void
 * 40  8  zero
 * </pre>
 *
 * <p>Then commits: 4 bytes length of the parts; 4 bytes CRC-32C of the CRC of the commit before it (of the header for the first), the length and the parts; the
 * parts ({@code PartCodec}). The first commit of a file is a summary of all that is no record: streams' numbers and counts, bins that are
 * referred to, open segments, open groups of windows, places of inputs, settings, counts. Who reads takes files in their order; what comes later counts. An older file is
 * removed when no record in it waits. The newest file ends before the first commit that is not whole; another file that ends earlier
 * than the next one says is damaged: the numbers that are missing then are noted as lost.
 */
package dev.millrace.edge.queue;
