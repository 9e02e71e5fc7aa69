package dev.millrace.sketch.stream;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.bins.BinSet;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.form.JointCodec;
import dev.millrace.sketch.form.Limits;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.SketchHeader.Announcement;
import dev.millrace.sketch.segment.StreamVersion;
import dev.millrace.sketch.segment.VersionCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.time.TimeCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Turns one stream's observations into segments. {@link #row} begins an observation and closes the segment before it when
 * that is full or its time is over; {@link #flush} closes the last one. Segments come out in order. Not thread-safe.
 *
 * <pre>{@code
 * StreamEncoder encoder = new StreamEncoder(schema, EncoderOptions.defaults(), segment -> send(segment.bytes()));
 * encoder.row(timeMicros).number(0, 21.5).text(1, "ok");
 * encoder.flush();
 * }</pre>
 *
 * <p>Each encoder is an incarnation of its own, with numbers that mean nothing beyond it: what one wrote is never read with the
 * bins of another. A stream outlives it by {@link #state} and {@link #restore}.
 */
public final class StreamEncoder {
    private static final int COMBINATIONS_SHARE = 8;

    private final EncoderOptions options;
    private final Consumer<EncodedSegment> out;
    private final long incarnation;
    private SketchSchema schema;
    private int schemaVersion = 1;
    private Observations waiting;
    private FeatureBins[] features;
    private int mostRows;
    private Optional<StreamVersion> version = Optional.empty();
    private int versions; // how many there were
    private long sequence; // of the next segment
    private int sinceAnnounced; // segments since the last complete announcement
    private boolean announce = true; // with the next segment
    private long windowStart;

    public StreamEncoder(SketchSchema schema, EncoderOptions options, Consumer<EncodedSegment> out) {
        this.options = options;
        this.out = out;
        this.incarnation = options.newIncarnation();
        this.features = new FeatureBins[schema.size()];
        for (int f = 0; f < features.length; f++) {
            features[f] = new FeatureBins(schema.feature(f), options.refit(), f);
        }
        use(schema);
    }

    private StreamEncoder(EncoderState state, EncoderOptions options, Consumer<EncodedSegment> out) {
        this(state.schema(), options, out);
        schemaVersion = state.schemaVersion();
        for (int f = 0; f < features.length; f++) {
            features[f] = new FeatureBins(
                    schema.feature(f),
                    options.refit(),
                    f,
                    state.bins().get(f),
                    state.ranges().get(f));
        }
    }

    private void use(SketchSchema newSchema) {
        schema = newSchema;
        waiting = new Observations(schema, () -> waiting.withoutLast(this::flush));
        mostRows = Math.max(1, Math.min(options.segmentRows(), Limits.CELLS / schema.size()));
        announce = true;
    }

    /**
     * An encoder that goes on where one stopped that {@link #state} was taken of: with its schema, its ranges and bounds, and the
     * rows that waited. It is a new incarnation and announces itself completely, so whatever the other one wrote after its
     * state was taken, no number means two things.
     *
     * @throws dev.millrace.error.MillraceException DATA_CORRUPTED when the state is damaged
     */
    public static StreamEncoder restore(byte[] state, EncoderOptions options, Consumer<EncodedSegment> out) {
        EncoderState read = EncoderState.read(state);
        StreamEncoder encoder = new StreamEncoder(read, options, out);
        read.rows().ifPresent(rows -> EncoderState.replay(rows, encoder));
        return encoder;
    }

    /** What {@link #restore} needs: some bytes per feature, and the waiting rows as they are. */
    public byte[] state() {
        List<FeatureBins.Range> ranges = new ArrayList<>();
        for (FeatureBins feature : features) {
            ranges.add(feature.range());
        }
        Optional<byte[]> rows = waiting.rows() == 0 ? Optional.empty() : Optional.of(exactRows());
        return EncoderState.write(
                new StreamVersion(
                        incarnation,
                        versions,
                        schemaVersion,
                        schema,
                        bins(),
                        new TimeCodec.Clockwork(0, 0, 0),
                        mostRows),
                ranges,
                rows);
    }

    /** The rows that wait, as a sketch of their own: exact, as they are not yet in bins. The segment stays open. */
    public Optional<Sketch> snapshot() {
        return waiting.rows() == 0 ? Optional.empty() : Optional.of(SegmentCodec.read(exactRows(), new Versions()));
    }

    /** Begins an observation at this time, all of it NULL. */
    public Observations row(long time) {
        long window = options.segmentTicks() == 0 ? 0 : Math.floorDiv(time, options.segmentTicks());
        if (waiting.rows() >= mostRows || waiting.rows() > 0 && window != windowStart) {
            flush();
        }
        windowStart = window;
        return waiting.row(time);
    }

    /** How many observations wait for their segment to close. */
    public int waitingRows() {
        return waiting.rows();
    }

    /** Bytes of the heap that waiting rows have, and the room for more that there once were; about, in constant time. */
    public long memoryBytes() {
        return waiting.memoryBytes();
    }

    /** Closes the segment, if it has any rows, and gives back their memory. */
    public void release() {
        flush();
        waiting.release();
    }

    /** What is encoded now. */
    public SketchSchema schema() {
        return schema;
    }

    /** Drawn at random when the encoder was made. */
    public long incarnation() {
        return incarnation;
    }

    /** The version of the segment closed last. */
    public Optional<StreamVersion> version() {
        return version;
    }

    /** Has the next segment announce its version completely, for a reader that has missed something. */
    public void announce() {
        announce = true;
    }

    /** The version of the segment closed last as a message of its own, for a reader that waits for it. */
    public Optional<byte[]> announcement() {
        return version.map(VersionCodec::encode);
    }

    /**
     * Goes on with other features. Closes the open segment; those of the same name and type keep their ranges. The next
     * segment announces the schema.
     */
    public void alter(SketchSchema newSchema) {
        flush();
        FeatureBins[] kept = new FeatureBins[newSchema.size()];
        for (int f = 0; f < kept.length; f++) {
            Feature feature = newSchema.feature(f);
            kept[f] = new FeatureBins(feature, options.refit(), f);
            for (int old = 0; old < features.length; old++) {
                Feature before = schema.feature(old);
                if (before.name().equals(feature.name()) && before.type().equals(feature.type())) {
                    kept[f] = before.equals(feature)
                            ? features[old]
                            : new FeatureBins(feature, options.refit(), f, features[old].bins(), features[old].range());
                }
            }
        }
        features = kept;
        schemaVersion++;
        use(newSchema);
    }

    /** Sets a feature's bound by hand, from the next segment to be closed on. */
    public void override(int feature, Bound bound) {
        schema = schema.withBound(feature, bound);
        schemaVersion++;
        announce = true;
        features[feature].override(schema.feature(feature));
    }

    /** The equally likely bins of a feature that has them. */
    public Optional<DensityBins> density(int feature) {
        return features[feature].density();
    }

    /** Closes the segment, if it has any rows. */
    public void flush() {
        int rows = waiting.rows();
        if (rows == 0) {
            return;
        }
        List<FeatureChoice> choices = new ArrayList<>(features.length);
        for (int f = 0; f < features.length; f++) {
            Observations.Column column = waiting.column(f);
            Feature feature = schema.feature(f);
            features[f].prepare(column, waiting.ticks(), rows);
            FeatureChoice choice = FeatureChoice.of(
                    column, rows, feature, features[f].bins(), features[f].discretiser(), options.keep());
            features[f].used(choice.bins());
            choices.add(choice);
        }
        boolean complete = options.selfContained()
                || announce
                || options.announceEvery() > 0 && sinceAnnounced >= options.announceEvery() - 1;
        StreamVersion current = current(rows, complete);
        StreamVersion before = version.orElse(current);
        Announcement announcement = complete
                ? Announcement.COMPLETE
                : before.number() != current.number() ? Announcement.CHANGE : Announcement.REFERENCE;
        byte[] bytes = SegmentCodec.seal(current, before, announcement, sequence, body(choices, current, sequence));
        EncodedSegment segment = new EncodedSegment(
                bytes,
                incarnation,
                sequence,
                current.number(),
                announcement,
                rows,
                waiting.ticks()[0],
                waiting.ticks()[rows - 1]);
        version = Optional.of(current);
        versions = current.number();
        sequence++;
        announce = false;
        sinceAnnounced = complete ? 0 : sinceAnnounced + 1;
        waiting.clear();
        out.accept(segment);
    }

    private List<BinSet> bins() {
        List<BinSet> bins = new ArrayList<>(features.length);
        for (FeatureBins feature : features) {
            bins.add(feature.bins());
        }
        return bins;
    }

    private StreamVersion current(int rows, boolean complete) {
        List<BinSet> bins = bins();
        if (version.isPresent() && version.get().schemaVersion() == schemaVersion) {
            StreamVersion known = version.get();
            return known.bins().equals(bins) ? known : known.changed(versions + 1, bins, known.clockwork());
        }
        assert complete : "a schema is announced";
        return new StreamVersion(
                incarnation,
                versions + 1,
                schemaVersion,
                schema,
                bins,
                TimeCodec.clockwork(waiting.ticks(), rows, sequence),
                options.segmentRows());
    }

    private SegmentCodec.Body body(List<FeatureChoice> choices, StreamVersion current, long number) {
        int rows = waiting.rows();
        Optional<JointCodec.Plan> joint = joint(choices, rows);
        return new SegmentCodec.Body() {
            @Override
            public boolean joint() {
                return joint.isPresent();
            }

            @Override
            public void write(BitWriter to) {
                SegmentCodec.writeRows(to, rows, current);
                TimeCodec.write(
                        to,
                        waiting.ticks(),
                        rows,
                        current.schema().timeBoundTicks(),
                        false,
                        SegmentCodec.times(current, number),
                        options.keep());
                if (joint.isPresent()) {
                    joint.get().write(to);
                    return;
                }
                for (int f = 0; f < choices.size(); f++) {
                    choices.get(f).plan().write(to, f == choices.size() - 1);
                }
            }
        };
    }

    /** The waiting rows as a segment that can be read alone and where nothing is off. */
    private byte[] exactRows() {
        int rows = waiting.rows();
        SketchSchema exact = schema.withTimeBound(0);
        List<BinSet> bins = new ArrayList<>();
        List<FeatureChoice> choices = new ArrayList<>();
        for (int f = 0; f < features.length; f++) {
            exact = exact.withBound(f, Bound.exact());
            Feature feature = exact.feature(f);
            bins.add(FeatureBins.exact(feature));
            choices.add(
                    FeatureChoice.of(waiting.column(f), rows, feature, bins.get(f), Optional.empty(), options.keep()));
        }
        StreamVersion alone = new StreamVersion(
                0, 1, schemaVersion, exact, bins, TimeCodec.clockwork(waiting.ticks(), rows, 0), rows);
        return SegmentCodec.seal(alone, alone, Announcement.COMPLETE, 0, body(choices, alone, 0));
    }

    private Optional<JointCodec.Plan> joint(List<FeatureChoice> choices, int rows) {
        Form form = options.form();
        boolean forced = form == Form.RUNS || form == Form.INDEX;
        if (form == Form.COLUMNS || !forced && choices.size() == 1) {
            return Optional.empty();
        }
        long columnBits = 0;
        for (FeatureChoice choice : choices) {
            columnBits += choice.plan().bits();
        }
        // A combination takes a bit of each feature at least, so many of them cannot be smaller than columns.
        int most = forced ? rows : (int) Math.min(rows / COMBINATIONS_SHARE, columnBits / choices.size());
        if (most < 1) {
            return Optional.empty();
        }
        List<JointCodec.Part> parts = new ArrayList<>(choices.size());
        for (FeatureChoice choice : choices) {
            parts.add(choice.joint());
        }
        return JointCodec.plan(parts, rows, most, form == Form.INDEX, options.keep())
                .filter(plan -> forced || plan.bits() < columnBitsOf(choices));
    }

    private static long columnBitsOf(List<FeatureChoice> choices) {
        return choices.stream().mapToLong(choice -> choice.plan().bits()).sum();
    }
}
