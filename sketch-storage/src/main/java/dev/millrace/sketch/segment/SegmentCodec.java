package dev.millrace.sketch.segment;

import dev.millrace.error.MillraceException;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.bits.BitReader;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.bits.Damage;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.form.JointCodec;
import dev.millrace.sketch.form.Limits;
import dev.millrace.sketch.form.NumberColumnCodec;
import dev.millrace.sketch.form.SymbolFilter;
import dev.millrace.sketch.form.TextColumnCodec;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SketchHeader.Announcement;
import dev.millrace.sketch.time.TimeCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;

/**
 * Segments as bytes, laid out as the package's description says. Stateless; a reader learns versions from the segments it
 * reads.
 */
public final class SegmentCodec {
    private static final int ROWS_ORDER = 10;

    private SegmentCodec() {}

    /** What an encoder puts behind the version: everything from the number of rows on. */
    public interface Body {
        /** Whether columns are stored together. */
        boolean joint();

        void write(BitWriter out);
    }

    /**
     * A segment's bytes.
     *
     * @param before the version before, for {@link Announcement#CHANGE}; else any
     * @param sequence its place among the segments of its incarnation
     */
    public static byte[] seal(
            StreamVersion version, StreamVersion before, Announcement announcement, long sequence, Body body) {
        BitWriter out = new BitWriter();
        SketchHeader.write(out, announcement, body.joint(), version, sequence);
        if (announcement == Announcement.COMPLETE) {
            VersionCodec.write(out, version);
        } else if (announcement == Announcement.CHANGE) {
            VersionCodec.writeChange(out, before, version);
        }
        body.write(out);
        return SketchHeader.sealed(out, version.incarnation());
    }

    /** Writes how many rows a segment has. */
    public static void writeRows(BitWriter out, int rows, StreamVersion version) {
        out.flag(rows == version.segmentRows());
        if (rows != version.segmentRows()) {
            out.golomb(rows, ROWS_ORDER);
        }
    }

    /** What is known of the times of a segment before they are written. */
    public static TimeCodec.Known times(StreamVersion version, long sequence) {
        return times(version, sequence, SketchHeader.FORMAT);
    }

    private static TimeCodec.Known times(StreamVersion version, long sequence, int format) {
        return new TimeCodec.Known(
                version.clockwork(),
                version.clockwork().expected(sequence, version.segmentRows()),
                version.schema().timeBoundTicks() > 0,
                format);
    }

    /**
     * Reads a segment, and adds to {@code versions} what it announces. The bytes may be reused afterwards.
     *
     * @throws MillraceException DATA_CORRUPTED when the bytes are damaged or cut off, FEATURE_NOT_SUPPORTED when a newer
     *     Millrace wrote them, OBJECT_NOT_IN_PREREQUISITE_STATE when they refer to a version not yet known
     */
    public static Sketch read(byte[] bytes, Versions versions) {
        return identify(bytes, SketchHeader.of(bytes), versions).sketch();
    }

    /**
     * Reads a segment as {@link #read(byte[], Versions)} does, if it is wanted. Of one that is not the checksum and the version were
     * looked at, and what its filter was asked about.
     */
    public static Optional<Sketch> read(byte[] bytes, Versions versions, SegmentFilter filter) {
        return read(bytes, SketchHeader.of(bytes), versions, filter, bit -> {}).map(Identified::sketch);
    }

    /**
     * Reads a segment as {@link #read(byte[], Versions)} does, and says what of it takes how many bits.
     *
     * @throws MillraceException as that does
     */
    public static SegmentCosts costs(byte[] bytes, Versions versions) {
        List<Long> places = new ArrayList<>(); // where the times begin, and what comes behind each part
        Sketch sketch = read(bytes, SketchHeader.of(bytes), versions, SegmentFilter.ANY, places::add)
                .orElseThrow()
                .sketch();
        return SegmentCosts.of(sketch, places, (long) Byte.SIZE * bytes.length);
    }

    /** A segment that was read, and the version that it is of. */
    public record Identified(Sketch sketch, StreamVersion version) {}

    /** Reads a segment as {@link #read(byte[], Versions)} does. */
    public static Identified identify(byte[] bytes, SketchHeader header, Versions versions) {
        return read(bytes, header, versions, SegmentFilter.ANY, bit -> {}).orElseThrow();
    }

    /** @param places told where the times begin, and where they and each part behind them that is read end */
    private static Optional<Identified> read(
            byte[] bytes, SketchHeader header, Versions versions, SegmentFilter filter, LongConsumer places) {
        Damage.check(header.announcement() != Announcement.ALONE, "it announces a version, and has no rows");
        BitReader in = header.behind(bytes);
        StreamVersion version;
        if (header.announcement() == Announcement.COMPLETE) {
            // The incarnation takes part in the checksum, so it is read before that is looked at.
            header.check(bytes, header.format() == 1 ? 0 : in.fork().read(64));
            version = VersionCodec.read(in, header.version(), header.format());
        } else if (header.announcement() == Announcement.CHANGE) {
            StreamVersion before = known(bytes, header, header.version() - 1, versions);
            version = VersionCodec.readChange(in, before, header.version(), header.format());
        } else {
            version = known(bytes, header, header.version(), versions);
        }
        Optional<Sketch> sketch = readRows(in, header, version, filter, places);
        if (header.announcement() != Announcement.REFERENCE && (version.incarnation() != 0 || header.format() == 1)) {
            versions.add(version);
        }
        return sketch.map(rows -> new Identified(rows, version));
    }

    /** The version that a segment refers to: of the incarnation with which its checksum matches. */
    private static StreamVersion known(byte[] bytes, SketchHeader header, int number, Versions versions) {
        Optional<StreamVersion> latest = versions.latest();
        if (latest.isPresent()
                && latest.get().number() == number
                && SketchHeader.tag(latest.get().incarnation()) == header.tag()
                && header.matches(bytes, latest.get().incarnation())) {
            return latest.get();
        }
        List<StreamVersion> candidates = versions.ending(header.tag(), number);
        for (StreamVersion version : candidates) {
            if (header.matches(bytes, version.incarnation())) {
                return version;
            }
        }
        if (!candidates.isEmpty() || header.format() == 1 && !header.matches(bytes, 0)) {
            throw SketchHeader.damaged(bytes);
        }
        throw versions.unknown(header, number);
    }

    private static Optional<Sketch> readRows(
            BitReader in, SketchHeader header, StreamVersion version, SegmentFilter filter, LongConsumer places) {
        SketchSchema schema = version.schema();
        int rows = in.flag() ? version.segmentRows() : in.count(ROWS_ORDER, Limits.ROWS, "the number of rows");
        Damage.check(rows > 0, "a segment without rows");
        if ((long) rows * schema.size() > Limits.CELLS) {
            throw Damage.beyondLimit("the number of values", (long) rows * schema.size(), Limits.CELLS);
        }
        places.accept(in.position());
        TimeCodec.Decoded times = TimeCodec.read(in, rows, times(version, header.sequence(), header.format()));
        places.accept(in.position());
        if (!filter.mayMeet(schema, times.times())) {
            return Optional.empty();
        }
        long timeError = times.exact() ? 0 : schema.timeBoundTicks();
        if (header.joint()) {
            JointCodec.Decoded decoded = JointCodec.read(in, rows, schema, version.bins());
            return Optional.of(new Sketch(
                    schema,
                    times.times(),
                    timeError,
                    decoded.columns(),
                    Optional.of(new Sketch.Joint(decoded.combinations(), decoded.counts()))));
        }
        List<Column> columns = new ArrayList<>(schema.size());
        for (int f = 0; f < schema.size(); f++) {
            boolean last = f == schema.size() - 1;
            Feature.Kind kind = schema.feature(f).kind();
            SymbolFilter wanted = filter.ofFeature(schema, f);
            Optional<Column> column = kind == Feature.Kind.TEXT
                    ? TextColumnCodec.read(in, rows, last, wanted)
                    : NumberColumnCodec.read(in, rows, version.bins().get(f), kind, last, wanted);
            if (column.isEmpty()) {
                return Optional.empty();
            }
            columns.add(column.get());
            places.accept(in.position());
        }
        return Optional.of(new Sketch(schema, times.times(), timeError, columns, Optional.empty()));
    }
}
