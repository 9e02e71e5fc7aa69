package dev.millrace.sketch.segment;

import dev.millrace.error.MillraceException;
import dev.millrace.sketch.bins.BinSet;
import dev.millrace.sketch.bins.GridBins;
import dev.millrace.sketch.bits.BitReader;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.bits.Damage;
import dev.millrace.sketch.form.Limits;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.time.TimeCodec;
import dev.millrace.type.DataType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Versions as bytes: in a segment, whole or as what changed since the one before, and as messages of their own, which a second
 * channel can carry, a reader ask for, or a store keep when it drops the segment that announced one (dissertation §6.3.2).
 * Stateless.
 */
public final class VersionCodec {
    private static final DataType.Kind[] KINDS = DataType.Kind.values();

    private VersionCodec() {}

    /** An announcement without rows, to be read by {@link #decode} or {@link SketchReceiver#accept}. */
    public static byte[] encode(StreamVersion version) {
        BitWriter out = new BitWriter();
        SketchHeader.write(out, SketchHeader.Announcement.ALONE, false, version, 0);
        write(out, version);
        return SketchHeader.sealed(out, version.incarnation());
    }

    /**
     * Reads what {@link #encode} wrote.
     *
     * @throws MillraceException DATA_CORRUPTED when the bytes are damaged, cut off, or something else
     */
    public static StreamVersion decode(byte[] bytes) {
        SketchHeader header = SketchHeader.of(bytes);
        Damage.check(header.announcement() == SketchHeader.Announcement.ALONE, "it is no announcement of a version");
        BitReader in = header.behind(bytes);
        long incarnation = in.fork().read(64);
        header.check(bytes, incarnation);
        return read(in, header.version(), header.format());
    }

    static void write(BitWriter out, StreamVersion version) {
        SketchSchema schema = version.schema();
        out.write(version.incarnation(), 64);
        out.golomb(version.schemaVersion(), 0);
        writeName(out, schema.timeName());
        out.sized(schema.ticksPerSecond());
        out.sized(schema.timeBoundTicks());
        out.golomb(schema.size() - 1, 2);
        for (int f = 0; f < schema.size(); f++) {
            Feature feature = schema.feature(f);
            writeName(out, feature.name());
            out.write(feature.type().kind().ordinal(), 5);
            out.golomb(feature.type().precision(), 0);
            out.write(feature.bound().kind().ordinal(), 2);
            if (feature.bound().kind() != Bound.Kind.EXACT) {
                writeDouble(out, feature.bound().amount());
            }
            out.write(feature.binning().ordinal(), 2);
            writeBins(out, version.bins().get(f), feature);
        }
        writeClockwork(out, version.clockwork());
        out.golomb(version.segmentRows(), 10);
    }

    private static void writeClockwork(BitWriter out, TimeCodec.Clockwork clockwork) {
        out.sized(BitWriter.zigzag(clockwork.origin()));
        out.sized(clockwork.period());
        out.golomb(clockwork.sequence(), 6);
    }

    private static TimeCodec.Clockwork readClockwork(BitReader in, int format) {
        long origin = BitReader.unzigzag(in.sized());
        long period = in.sized();
        long sequence = format == 1 ? 0 : in.golomb(6);
        Damage.check(period >= 0 && sequence >= 0, "an impossible period");
        return new TimeCodec.Clockwork(origin, period, sequence);
    }

    private static void writeName(BitWriter out, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        out.golomb(bytes.length, 3);
        for (byte b : bytes) {
            out.write(b, 8);
        }
    }

    private static void writeDouble(BitWriter out, double value) {
        out.write(Double.doubleToRawLongBits(value), 64);
    }

    private static void writeBins(BitWriter out, BinSet bins, Feature feature) {
        boolean asDeclared =
                feature.bound().kind() == Bound.Kind.ABSOLUTE && feature.bound().amount() == bins.bound();
        out.flag(bins.bound() == 0);
        if (bins.bound() != 0) {
            out.flag(asDeclared);
            if (!asDeclared) {
                writeDouble(out, bins.bound());
            }
        }
        boolean usual = bins.step() == usualStep(bins.bound(), feature, SketchHeader.FORMAT);
        out.flag(usual);
        if (!usual) {
            writeDouble(out, bins.step());
        }
        out.golomb(bins.centres().size(), 0);
        for (double centre : bins.centres()) {
            writeDouble(out, centre);
        }
    }

    static double usualStep(double bound, Feature feature, int format) {
        return feature.kind() == Feature.Kind.NUMBER
                ? GridBins.step(bound)
                : format == 1 ? GridBins.wholeStep(bound, 1L << 60) : GridBins.wholeStep(bound);
    }

    static StreamVersion read(BitReader in, int number, int format) {
        try {
            long incarnation = format == 1 ? 0 : in.read(64);
            int schemaVersion = format == 1 ? 1 : in.count(0, Integer.MAX_VALUE - 1, "the version of a schema");
            String timeName = readName(in);
            long ticksPerSecond = in.sized();
            long timeBound = in.sized();
            int size = in.count(2, SketchSchema.MOST_FEATURES - 1, "the number of features") + 1;
            List<Feature> features = new ArrayList<>();
            List<BinSet> bins = new ArrayList<>();
            for (int f = 0; f < size; f++) {
                String name = readName(in);
                DataType type = readType(in);
                int bound = in.readInt(2);
                Damage.check(bound < 3, "an unknown kind of bound");
                double amount = bound == Bound.Kind.EXACT.ordinal() ? 0 : readDouble(in);
                Binning binning = Binning.values()[in.readInt(2)];
                Feature feature = new Feature(name, type, new Bound(Bound.Kind.values()[bound], amount), binning);
                features.add(feature);
                bins.add(readBins(in, feature, format));
            }
            TimeCodec.Clockwork clockwork = readClockwork(in, format);
            int rows = in.count(10, Limits.ROWS, "the rows of a segment");
            SketchSchema schema = new SketchSchema(timeName, ticksPerSecond, timeBound, features);
            return new StreamVersion(incarnation, number, schemaVersion, schema, bins, clockwork, rows);
        } catch (MillraceException e) {
            throw e.sqlState() == dev.millrace.error.SqlState.DATA_CORRUPTED ? e : Damage.damaged(e.getMessage());
        }
    }

    private static String readName(BitReader in) {
        int length = in.count(3, SketchSchema.MOST_NAME_BYTES, "the length of a name");
        Damage.check(8L * length <= in.remaining(), "it ends early");
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) in.read(8);
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static DataType readType(BitReader in) {
        int kind = in.readInt(5);
        Damage.check(kind < KINDS.length, "an unknown type");
        int precision = in.count(0, Integer.MAX_VALUE, "the length of a type");
        return switch (KINDS[kind]) {
            case NUMERIC, ARRAY -> throw Damage.damaged("a type that a sketch cannot hold");
            default -> new DataType(KINDS[kind], precision, 0, List.of());
        };
    }

    private static double readDouble(BitReader in) {
        return Double.longBitsToDouble(in.read(64));
    }

    private static BinSet readBins(BitReader in, Feature feature, int format) {
        double bound = in.flag() ? 0 : in.flag() ? feature.bound().amount() : readDouble(in);
        double step = in.flag() ? usualStep(bound, feature, format) : readDouble(in);
        boolean whole = feature.kind() != Feature.Kind.NUMBER;
        Damage.check(
                bound >= 0
                        && bound < Double.POSITIVE_INFINITY
                        && step >= (whole ? 1 : 0)
                        && step < (whole ? 0x1p62 : Double.POSITIVE_INFINITY),
                "impossible bins");
        return new BinSet(bound, step, readCentres(in));
    }

    private static List<Double> readCentres(BitReader in) {
        int size = in.count(0, Limits.CENTRES, "the number of bins");
        Damage.check(64L * size <= in.remaining(), "it ends early");
        List<Double> centres = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            centres.add(readDouble(in));
        }
        return centres;
    }

    /** Writes what distinguishes a version from the one before it, which has the same schema. */
    static void writeChange(BitWriter out, StreamVersion before, StreamVersion version) {
        for (int f = 0; f < version.bins().size(); f++) {
            BinSet old = before.bins().get(f);
            BinSet bins = version.bins().get(f);
            out.flag(!bins.equals(old));
            if (bins.equals(old)) {
                continue;
            }
            int kept = old.centres().size();
            boolean injected = bins.bound() == old.bound()
                    && bins.step() == old.step()
                    && bins.centres().size() > kept
                    && bins.centres().subList(0, kept).equals(old.centres());
            out.flag(injected);
            if (injected) {
                out.golomb(bins.centres().size() - kept, 0);
                for (double centre : bins.centres().subList(kept, bins.centres().size())) {
                    writeDouble(out, centre);
                }
            } else {
                writeBins(out, bins, version.schema().feature(f));
            }
        }
        boolean sameClock = before.clockwork().equals(version.clockwork());
        out.flag(!sameClock);
        if (!sameClock) {
            writeClockwork(out, version.clockwork());
        }
    }

    static StreamVersion readChange(BitReader in, StreamVersion before, int number, int format) {
        List<BinSet> all = new ArrayList<>();
        for (int f = 0; f < before.bins().size(); f++) {
            BinSet old = before.bins().get(f);
            if (!in.flag()) {
                all.add(old);
            } else if (in.flag()) {
                List<Double> centres = new ArrayList<>(old.centres());
                centres.addAll(readCentres(in));
                Damage.check(centres.size() <= Limits.CENTRES, "more bins than a feature may have");
                all.add(new BinSet(old.bound(), old.step(), centres));
            } else {
                all.add(readBins(in, before.schema().feature(f), format));
            }
        }
        TimeCodec.Clockwork clockwork = in.flag() ? readClockwork(in, format) : before.clockwork();
        return before.changed(number, all, clockwork);
    }
}
