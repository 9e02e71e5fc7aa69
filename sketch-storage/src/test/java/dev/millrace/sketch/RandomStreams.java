package dev.millrace.sketch;

import dev.millrace.sketch.form.Keep;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.EncodedSegment;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.Form;
import dev.millrace.sketch.stream.Observations;
import dev.millrace.sketch.stream.StreamEncoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * One segment of two numbers, a whole number and a category, with what went into it. NULL is NaN in the numbers, {@code
 * Long.MIN_VALUE} in the whole numbers and empty in the categories.
 */
record RandomStreams(
        long[] ticks, double[] a, double[] b, long[] whole, String[] category, byte[] bytes, Sketch sketch) {
    static final SketchSchema SCHEMA = SketchSchema.of(
            Feature.number("a", Bound.ofRange(.01)),
            Feature.number("b", Bound.absolute(.5)),
            Feature.whole("n", Bound.absolute(3)),
            Feature.text("c"));

    private static final Signals[] NUMBERS = {
        Signals.CONSTANT,
        Signals.WALK,
        Signals.SINE,
        Signals.NOISE,
        Signals.STEPS,
        Signals.TOGGLE,
        Signals.SPIKES,
        Signals.DRIFT,
        Signals.EDGES,
        Signals.DECIMALS
    };

    static RandomStreams make(Random random) {
        int rows = 1 + random.nextInt(random.nextInt(5) == 0 ? 20 : 1500);
        double[] a = NUMBERS[random.nextInt(NUMBERS.length)].make(random, rows);
        double[] b = NUMBERS[random.nextInt(NUMBERS.length)].make(random, rows);
        long[] whole = new long[rows];
        String[] category = new String[rows];
        long[] ticks = new long[rows];
        int kinds = 1 + random.nextInt(4);
        int change = 1 + random.nextInt(60);
        int order = random.nextInt(3);
        for (int i = 0; i < rows; i++) {
            whole[i] = i > 0 && random.nextInt(change) > 0 ? whole[i - 1] : random.nextInt(200) - 100;
            category[i] = i > 0 && random.nextInt(change) > 0 ? category[i - 1] : "c" + random.nextInt(kinds);
            ticks[i] = 1_000_000_000L
                    + i * 1000L
                    + (order == 0 ? 0 : order == 1 ? random.nextInt(500) : random.nextInt(9000));
        }
        if (random.nextBoolean()) {
            for (int i = 0; i < rows; i++) {
                int which = random.nextInt(40);
                a[i] = which == 0 ? Double.NaN : a[i];
                b[i] = which == 1 ? Double.NaN : b[i];
                whole[i] = which == 2 ? Long.MIN_VALUE : whole[i];
                category[i] = which == 3 ? "" : category[i];
            }
        }
        List<EncodedSegment> out = new ArrayList<>();
        EncoderOptions options = EncoderOptions.defaults()
                .withSegmentRows(4096)
                .selfContained(true)
                .withKeep(random.nextInt(4) == 0 ? Keep.ARCHIVAL : Keep.QUERYABLE)
                .withForm(Form.values()[random.nextInt(4)]);
        StreamEncoder encoder = new StreamEncoder(SCHEMA, options, out::add);
        for (int i = 0; i < rows; i++) {
            Observations row = encoder.row(ticks[i]);
            if (a[i] == a[i]) {
                row.number(0, a[i]);
            }
            if (b[i] == b[i]) {
                row.number(1, b[i]);
            }
            if (whole[i] != Long.MIN_VALUE) {
                row.whole(2, whole[i]);
            }
            if (!category[i].isEmpty()) {
                row.text(3, category[i]);
            }
        }
        encoder.flush();
        byte[] bytes = out.get(0).bytes();
        return new RandomStreams(ticks, a, b, whole, category, bytes, SegmentCodec.read(bytes, new Versions()));
    }

    int rows() {
        return ticks.length;
    }
}
