package dev.millrace.storage.log;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Makes records of fragments in their order, and holds each fragment to those before it. For one thread.
 *
 * <pre>
 *                 first part                     last part
 *   no record  ---------------> record under way ---------> no record, one more whole
 *        |  ^                     |   middle part: stays
 *        |  |                     |   first part or whole record: the one under way was given up
 *   whole record, mark
 * </pre>
 */
final class RecordAssembler {
    private static final long NONE = 0;
    private static final long ANY = -1;

    private final long wantedAfter;
    private long lastWhole;
    private long underWay;
    private ByteBuffer contents = ByteBuffer.allocate(0);

    /**
     * Begins where a segment does.
     *
     * @param wantedAfter contents are kept of records with higher numbers
     */
    RecordAssembler(SegmentHeader header, long wantedAfter) {
        this.wantedAfter = wantedAfter;
        this.lastWhole = header.lastWhole();
        this.underWay = header.beginsWithRecord() ? NONE : ANY;
    }

    /** Begins with a fragment that begins a record, whatever is before it. */
    RecordAssembler(Fragment first) {
        this.wantedAfter = -1;
        this.lastWhole = first.number - first.gap;
        this.underWay = NONE;
    }

    /** Goes on where another segment does; empty, or what does not fit. */
    Optional<String> enter(SegmentHeader header) {
        if (header.lastWhole() != lastWhole) {
            return Optional.of(
                    "the last record before it is " + lastWhole + ", and its header names " + header.lastWhole());
        }
        if (header.beginsWithRecord()) {
            underWay = NONE;
        }
        return Optional.empty();
    }

    /** Takes the next fragment; empty, or what does not fit. */
    Optional<String> add(Fragment fragment, ByteBuffer part) {
        if (fragment.number - fragment.gap != lastWhole) {
            return Optional.of("record " + fragment.number + " follows " + (fragment.number - fragment.gap) + ", not "
                    + lastWhole);
        }
        if (fragment.kind == Fragment.MARK) {
            underWay = NONE;
            return Optional.empty();
        }
        if (fragment.gap < 1) {
            return Optional.of("record " + fragment.number + " is there twice");
        }
        if (fragment.beginsRecord()) {
            underWay = fragment.number;
            contents.clear();
        } else if (underWay == ANY) {
            underWay = fragment.number;
        } else if (underWay != fragment.number) {
            return Optional.of("a part of record " + fragment.number + " follows another record");
        }
        if (fragment.number > wantedAfter) {
            append(part);
        }
        if (fragment.endsRecord()) {
            underWay = NONE;
            lastWhole = fragment.number;
        }
        return Optional.empty();
    }

    private void append(ByteBuffer part) {
        if (contents.remaining() < part.remaining()) {
            long wanted = Math.max(2L * contents.capacity(), (long) contents.position() + part.remaining());
            ByteBuffer larger = ByteBuffer.allocate((int) Math.min(Integer.MAX_VALUE - 8, Math.max(4096, wanted)));
            contents = larger.put(contents.flip());
        }
        contents.put(part);
    }

    /** Whether no record is under way. */
    boolean isWhole() {
        return underWay == NONE;
    }

    /** Number of the last whole record. */
    long lastWhole() {
        return lastWhole;
    }

    /** The last whole record, if it was wanted; until the next fragment. */
    ByteBuffer record() {
        return contents.duplicate().flip();
    }
}
