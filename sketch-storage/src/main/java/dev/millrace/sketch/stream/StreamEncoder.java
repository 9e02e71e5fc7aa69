package dev.millrace.sketch.stream;

import dev.millrace.sketch.bins.BinSet;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.form.JointCodec;
import dev.millrace.sketch.form.Limits;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.SegmentCodec.Announcement;
import dev.millrace.sketch.segment.StreamVersion;
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
 */
public final class StreamEncoder {
    private static final int COMBINATIONS_SHARE = 8;

    private final SketchSchema schema;
    private final EncoderOptions options;
    private final Consumer<EncodedSegment> out;
    private final Observations waiting;
    private final FeatureBins[] features;
    private final int mostRows;
    private Optional<StreamVersion> version = Optional.empty();
    private long windowStart;

    public StreamEncoder(SketchSchema schema, EncoderOptions options, Consumer<EncodedSegment> out) {
        this.schema = schema;
        this.options = options;
        this.out = out;
        this.waiting = new Observations(schema);
        this.mostRows = Math.max(1, Math.min(options.segmentRows(), Limits.CELLS / schema.size()));
        this.features = new FeatureBins[schema.size()];
        for (int f = 0; f < features.length; f++) {
            features[f] = new FeatureBins(schema.feature(f), options.refit(), f);
        }
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

    /** The version of the segment closed last. */
    public Optional<StreamVersion> version() {
        return version;
    }

    /** Sets a feature's bound by hand, from the next segment to be closed on. */
    public void override(int feature, Bound bound) {
        features[feature].override(schema.feature(feature).withBound(bound));
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
        StreamVersion before = version.orElse(null);
        StreamVersion current = current(rows);
        boolean announces = options.selfContained() || before == null || before.number() != current.number();
        Announcement announcement = options.selfContained() || before == null
                ? Announcement.COMPLETE
                : announces ? Announcement.CHANGE : Announcement.REFERENCE;
        byte[] bytes =
                SegmentCodec.seal(current, before == null ? current : before, announcement, body(choices, current));
        version = Optional.of(current);
        long first = waiting.ticks()[0];
        long last = waiting.ticks()[rows - 1];
        waiting.clear();
        out.accept(new EncodedSegment(bytes, current.number(), announces, rows, first, last));
    }

    private StreamVersion current(int rows) {
        List<BinSet> bins = new ArrayList<>(features.length);
        for (FeatureBins feature : features) {
            bins.add(feature.bins());
        }
        if (version.isEmpty()) {
            return new StreamVersion(
                    1, schema, bins, TimeCodec.clockwork(waiting.ticks(), rows), options.segmentRows());
        }
        StreamVersion known = version.get();
        return known.bins().equals(bins)
                ? known
                : new StreamVersion(known.number() + 1, schema, bins, known.clockwork(), options.segmentRows());
    }

    private SegmentCodec.Body body(List<FeatureChoice> choices, StreamVersion current) {
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
                        to, waiting.ticks(), rows, schema.timeBoundTicks(), current.clockwork(), options.keep());
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
