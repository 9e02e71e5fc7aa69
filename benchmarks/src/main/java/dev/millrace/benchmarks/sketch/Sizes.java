package dev.millrace.benchmarks.sketch;

import dev.millrace.sketch.form.Keep;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.stream.EncodedSegment;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.Form;
import dev.millrace.sketch.stream.Observations;
import dev.millrace.sketch.stream.StreamEncoder;
import java.util.ArrayList;
import java.util.List;

/** Sizes of one set in bytes per observation. */
record Sizes(
        String name,
        int features,
        double raw,
        double gzip,
        double lz4,
        double zstd,
        double gorilla,
        double lec,
        double adam,
        double pmc,
        double swing,
        double published,
        double queryable,
        double archival,
        double entropy,
        double time) {
    static final int SEGMENT = 1024;

    static SketchSchema schema(TimeSeries series, double share, Binning binning) {
        List<Feature> features = new ArrayList<>();
        for (int f = 0; f < series.features().size(); f++) {
            double[] range = TimeSeries.range(series.features().get(f));
            Bound bound = range[0] <= range[1] ? Bound.ofRange(share, range[0], range[1]) : Bound.exact();
            features.add(Feature.number("f" + f, bound).withBinning(binning));
        }
        return SketchSchema.of(features.toArray(new Feature[0]));
    }

    static List<EncodedSegment> encode(TimeSeries series, SketchSchema schema, EncoderOptions options) {
        List<EncodedSegment> segments = new ArrayList<>();
        StreamEncoder encoder = new StreamEncoder(schema, options, segments::add);
        for (int row = 0; row < series.rows(); row++) {
            Observations to = encoder.row(series.micros()[row]);
            for (int f = 0; f < series.features().size(); f++) {
                double value = series.features().get(f)[row];
                if (!Double.isNaN(value)) {
                    to.number(f, value);
                }
            }
        }
        encoder.flush();
        return segments;
    }

    private static double size(TimeSeries series, double share, Binning binning, EncoderOptions options) {
        long bytes = encode(series, schema(series, share, binning), options).stream()
                .mapToLong(segment -> segment.bytes().length)
                .sum();
        return bytes / (double) series.rows();
    }

    static Sizes of(TimeSeries series, double share) {
        EncoderOptions options = EncoderOptions.defaults().withSegmentRows(SEGMENT);
        TimeSeries regular = series.regular();
        double queryable = size(regular, share, Binning.SMALLEST, options);
        double archival = size(regular, share, Binning.SMALLEST, options.withKeep(Keep.ARCHIVAL));
        double published = size(regular, share, Binning.EQUAL_PROBABILITY, options.withForm(Form.INDEX));
        double withTime = size(series, share, Binning.SMALLEST, options);
        double[] sums = new double[9];
        double entropy = 0;
        for (double[] values : series.features()) {
            double[] range = TimeSeries.range(values);
            double bound = range[1] > range[0] ? share * (range[1] - range[0]) : Double.MIN_NORMAL;
            long[] bins = Baselines.bins(values, bound);
            entropy += Baselines.entropy(bins);
            for (int from = 0; from < values.length; from += SEGMENT) {
                int to = Math.min(values.length, from + SEGMENT);
                byte[] raw = Baselines.raw(values, from, to);
                sums[0] += Baselines.gzip(raw);
                sums[1] += Baselines.lz4(raw);
                sums[2] += Baselines.zstd(raw);
                sums[3] += Baselines.gorilla(values, from, to);
                sums[4] += Baselines.lec(bins, from, to);
                sums[5] += Baselines.adam(values, from, to, bound);
                sums[6] += Baselines.pmc(values, from, to, bound);
                sums[7] += Baselines.swing(values, from, to, bound);
            }
        }
        double rows = series.rows();
        // Compressors get the time as one more column, as raw does; a sketch has it too.
        for (int from = 0; from < series.rows(); from += SEGMENT) {
            byte[] raw = Baselines.raw(regular.micros(), from, Math.min(series.rows(), from + SEGMENT));
            sums[0] += Baselines.gzip(raw);
            sums[1] += Baselines.lz4(raw);
            sums[2] += Baselines.zstd(raw);
            sums[3] += 8 + SEGMENT / 8; // delta of delta: one bit each
        }
        return new Sizes(
                series.name(),
                series.features().size(),
                8.0 * (1 + series.features().size()),
                sums[0] / rows,
                sums[1] / rows,
                sums[2] / rows,
                sums[3] / rows,
                sums[4] / rows,
                sums[5] / rows,
                sums[6] / rows,
                sums[7] / rows,
                published,
                queryable,
                archival,
                entropy,
                withTime - queryable);
    }
}
