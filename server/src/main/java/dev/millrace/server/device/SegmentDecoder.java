package dev.millrace.server.device;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.DecodedRows;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordDecoder;
import dev.millrace.sketch.segment.ArrivedNumbers;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.SegmentCodec.Identified;
import dev.millrace.sketch.segment.SketchHeader;
import dev.millrace.sketch.segment.SketchHeader.Announcement;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.util.TransferPair;

/**
 * Makes rows of segments, one at a time, in the order of their partition. One whose bins are not known waits, and what is behind it,
 * until all is read that was in the topic of bins when it came, and then for as long as a copy of that topic may be behind; if they do not
 * come it is rejected, as are others that lack the same. Owned by one thread at a time.
 *
 * <pre>
 *   a segment -- readable --> came before? -- no --> rows
 *      |  ^                       +--- yes --> dropped, and told
 *      |  +-- not all read that was there, or not long ago: waits
 *      +----- else: rejected
 * </pre>
 */
final class SegmentDecoder implements RecordDecoder {
    private static final int WINDOW = 1_024; // sequence numbers looked back, for what comes twice
    private static final int MOST_INCARNATIONS = 10_000; // that are looked back for
    private static final int MOST_ALONE = 4_096; // segments without an incarnation
    private static final int MOST_MISSING = 4_096; // versions

    private final KnownBins bins;
    private final EdgeColumns rows;
    private final List<Integer> columns;
    private final DecoderContext context;
    private final Runnable listener;
    private final Map<Long, ArrivedNumbers> arrived = new Bounded<>(MOST_INCARNATIONS);
    private final Map<Long, Boolean> alone = new Bounded<>(MOST_ALONE); // by a print of their bytes
    private final Map<Lack, Boolean> missing = new Bounded<>(MOST_MISSING); // that were waited for in vain
    private OptionalLong asked = OptionalLong.empty(); // for the record that is decoded
    private OptionalLong readNanos = OptionalLong.empty(); // since when all is known that was asked for
    private volatile Optional<String> lacks = Optional.empty(); // written by who decodes, read by all

    /** A version that a segment needs. */
    private record Lack(String device, int tag, int version) {}

    /** Those that were looked at last. */
    private static final class Bounded<K, V> extends LinkedHashMap<K, V> {
        private static final long serialVersionUID = 1;
        private final int most;

        Bounded(int most) {
            super(16, .75f, true);
            this.most = most;
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > most;
        }
    }

    SegmentDecoder(SegmentFormat format, List<Integer> columns, DecoderContext context) {
        this.bins = format.bins();
        this.rows = format.rows();
        this.columns = columns;
        this.context = context;
        this.listener = context::wakeUp;
        bins.open(listener);
    }

    @Override
    public Optional<DecodedRows> decode(EncodedRecords records) {
        bins.problems().forEach(context::note);
        if (records.count() == 0) {
            return Optional.of(nothing());
        }
        if (records.count() > 1) {
            throw MillraceException.notAvailableYet("format sketch where several records are read together");
        }
        Optional<DecodedRows> made = decodeFirst(records);
        if (made.isPresent()) {
            asked = OptionalLong.empty();
            readNanos = OptionalLong.empty();
            lacks = Optional.empty();
        }
        return made;
    }

    private Optional<DecodedRows> decodeFirst(EncodedRecords records) {
        boolean isInVain = isInVain(); // before it is looked up
        try {
            byte[] segment = SegmentFormatFactory.value(records, 0);
            String device = device(records);
            SketchHeader header = SketchHeader.of(segment);
            Identified read;
            try {
                read = SegmentCodec.identify(segment, header, bins.of(device, header));
            } catch (MillraceException e) {
                if (header.announcement() == Announcement.COMPLETE) {
                    throw e;
                }
                Lack lack = new Lack(device, header.tag(), header.version());
                if (!isInVain && !missing.containsKey(lack)) {
                    return waits(lack);
                }
                missing.put(lack, true);
                throw explained(e);
            }
            return Optional.of(rows(device, segment, header, read));
        } catch (MillraceException e) {
            if (e.fault() == MillraceException.Fault.RESOURCES || e.fault() == MillraceException.Fault.INTERNAL) {
                throw e; // which is not the record's
            }
            context.reject(0, "", e);
            return Optional.of(nothing());
        }
    }

    /** Whether what was asked for has been waited for long enough. */
    private boolean isInVain() {
        if (asked.isEmpty() || !bins.hasReached(asked.getAsLong())) {
            return false;
        }
        long now = context.clock().nanoTime();
        if (readNanos.isEmpty()) {
            readNanos = OptionalLong.of(now);
        }
        return now - readNanos.getAsLong() >= bins.patienceNanos();
    }

    private static String device(EncodedRecords records) {
        return records.hasKey(0)
                ? new String(
                        SegmentFormatFactory.bytes(records.address(), records.keyFrom(0), records.keyTo(0)),
                        StandardCharsets.UTF_8)
                : "";
    }

    private Optional<DecodedRows> waits(Lack lack) {
        if (asked.isEmpty()) {
            asked = OptionalLong.of(bins.ask());
            lacks = Optional.of("version " + lack.version() + " of the bins of " + lack.device() + " in " + bins);
        }
        return Optional.empty();
    }

    private MillraceException explained(MillraceException e) {
        long forgotten = bins.forgotten();
        return e.sqlState() == SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE && forgotten > 0
                ? e.withHint(forgotten + " versions were forgotten, as there was no room for more: bins.memory_mb")
                : e;
    }

    private DecodedRows rows(String device, byte[] segment, SketchHeader header, Identified read) {
        long incarnation = read.version().incarnation();
        if (incarnation != 0 && header.announcement() != Announcement.REFERENCE) {
            bins.add(device, read.version());
        }
        if (isTwice(segment, header, incarnation)) {
            String which = incarnation == 0
                    ? "that can be read alone"
                    : "number " + header.sequence() + " of encoder " + Long.toHexString(incarnation);
            context.note("a segment of " + device + ", " + which + ", came twice: its "
                    + read.sketch().rows() + " rows count once");
            return nothing();
        }
        try (Batch batch = rows.batch(read.sketch(), device, context.allocator())) {
            return chosen(batch);
        }
    }

    /** The columns that are asked for, which share the batch's memory: two of them may have the same. */
    private DecodedRows chosen(Batch batch) {
        List<FieldVector> made = new ArrayList<>();
        try {
            for (int column : columns) {
                TransferPair pair = batch.column(column).getTransferPair(context.allocator());
                pair.splitAndTransfer(0, batch.rowCount());
                made.add((FieldVector) pair.getTo());
            }
        } catch (RuntimeException | Error e) {
            Closing.all(made);
            throw e;
        }
        int[] first = new int[batch.rowCount()]; // each row is of the only record
        return new DecodedRows(made, batch.rowCount(), Optional.of(first), Optional.empty());
    }

    private boolean isTwice(byte[] segment, SketchHeader header, long incarnation) {
        if (incarnation != 0 && header.sequence() >= 0) {
            return !arrived.computeIfAbsent(incarnation, i -> new ArrivedNumbers(WINDOW))
                    .add(header.sequence());
        }
        long print = 0; // the checksum is a part of it
        for (byte b : segment) {
            print = print * 0x100000001b3L ^ b & 0xff;
        }
        return alone.put(print, true) != null;
    }

    private DecodedRows nothing() {
        try (Batch none = rows.nothing(context.allocator())) {
            return chosen(none);
        }
    }

    @Override
    public Optional<String> waitsFor() {
        return bins.waitsFor().or(() -> lacks);
    }

    @Override
    public void close() {
        bins.close(listener);
    }
}
