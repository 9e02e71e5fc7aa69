package dev.millrace.benchmarks.sketch;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.bins.AdaptiveDiscretiser;
import dev.millrace.sketch.bins.Binned;
import dev.millrace.sketch.bins.ProbabilityBins;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.density.KernelDensity;
import dev.millrace.sketch.sample.BiasedReservoir;
import dev.millrace.sketch.sample.Reservoir;
import dev.millrace.sketch.sample.UniformReservoir;
import dev.millrace.sketch.sample.VariableRateReservoir;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.EncodedSegment;
import dev.millrace.sketch.stream.EncoderOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.roaringbitmap.RoaringBitmap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./millrace bench sketch-figures}: the dissertation's figures 6.4, 6.5, 6.7, 6.12 and 6.13 on our sets. */
@Command(
        name = "sketch-figures",
        description = "Draws the dissertation's figures 6.4, 6.5, 6.7, 6.12 and 6.13 on the real sets.",
        mixinStandardHelpOptions = true)
public final class FiguresCommand implements Callable<Integer> {
    private static final double THRESHOLD = .025;

    @Option(names = "--data", paramLabel = "DIR", description = "Where the real sets are.")
    private Path data = DataSets.defaultRoot();

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "Where to write the pictures (default: ${DEFAULT-VALUE}).")
    private Path out = Path.of("docs");

    @Override
    public Integer call() throws IOException {
        List<TimeSeries> sets = new DataSets(data).all();
        for (TimeSeries series : sets) {
            if (series.name().equals("fridge plug")) {
                anomaly(series);
            } else if (series.name().equals("household power")) {
                reservoirs(series);
                bitmaps(series);
            }
        }
        errors(sets);
        thresholds(sets);
        return 0;
    }

    private void write(String name, byte[] picture) throws IOException {
        Files.write(out.resolve("sketch-" + name + ".png"), picture);
    }

    private static ProbabilityBins fit(double[] values, int count, double range) {
        KernelDensity density = new KernelDensity(48, 1);
        double[] sample = Arrays.copyOf(values, count);
        for (double value : sample) {
            density.add(value);
        }
        return ProbabilityBins.fewest(density, sample, range, THRESHOLD);
    }

    /** Fig. 6.4: a peak, put into bins that were fitted before it, with and without injection. */
    private void anomaly(TimeSeries series) throws IOException {
        double[] values = series.features().get(0);
        int peak = IntStream.range(4096, values.length)
                .reduce((a, b) -> values[b] > values[a] ? b : a)
                .orElse(4096);
        double[] range = TimeSeries.range(values);
        double width = range[1] - range[0];
        ProbabilityBins bins = fit(values, Math.min(4096, peak), width);
        AdaptiveDiscretiser adaptive = new AdaptiveDiscretiser(bins, THRESHOLD * width, false);
        int from = Math.max(0, peak - 40);
        double[] window = Arrays.copyOfRange(values, from, Math.min(values.length, peak + 40));
        Binned binned = adaptive.discretise(window, window.length);
        double[] x = IntStream.range(0, window.length).asDoubleStream().toArray();
        double[] basic =
                Arrays.stream(window).map(v -> bins.centres().get(bins.bin(v))).toArray();
        double[] kept = IntStream.range(0, window.length)
                .mapToDouble(i -> binned.scale().value(binned.bins()[i]))
                .toArray();
        write(
                "fig-6-4",
                Chart.lines(
                        "Fig. 6.4: the fridge's highest peak, bins fitted before it, bound 2.5 %",
                        "observation",
                        "W",
                        List.of(
                                new Chart.Line("observed", x, window),
                                new Chart.Line("basic bins", x, basic),
                                new Chart.Line("adaptive", x, kept))));
    }

    /** Fig. 6.5: the error of bins on a window of the stream, and on three samples of it. */
    private void reservoirs(TimeSeries series) throws IOException {
        double[] values = DataSets.finite(series.features().get(0));
        double[] range = TimeSeries.range(values);
        double width = range[1] - range[0];
        ProbabilityBins bins = fit(values, 2000, width);
        List<Reservoir> samples = List.of(
                new UniformReservoir(500, 1), new BiasedReservoir(500, 1), new VariableRateReservoir(500, 500, 1));
        int window = 500;
        int points = Math.min(values.length, 40_000) / window;
        double[][] y = new double[4][points];
        double[] x = new double[points];
        for (int p = 0; p < points; p++) {
            x[p] = p * window;
            for (int i = p * window; i < (p + 1) * window; i++) {
                for (Reservoir sample : samples) {
                    sample.offer(values[i], i);
                }
            }
            y[0][p] = 100 * bins.error(Arrays.copyOfRange(values, p * window, (p + 1) * window), width);
            for (int s = 0; s < 3; s++) {
                y[s + 1][p] = 100 * bins.error(samples.get(s).sample(), width);
            }
        }
        write(
                "fig-6-5",
                Chart.lines(
                        "Fig. 6.5: error of the first bins on household power: window of 500 and samples",
                        "observation",
                        "NRMSE, %",
                        List.of(
                                new Chart.Line("window", x, y[0]),
                                new Chart.Line("uniform", x, y[1]),
                                new Chart.Line("Aggarwal", x, y[2]),
                                new Chart.Line("variable rate", x, y[3]))));
    }

    /** Fig. 6.7: bytes of the inverted index, all plain, all Roaring, and whichever is smaller. */
    private void bitmaps(TimeSeries series) throws IOException {
        double[] values = series.features().get(0);
        double[] range = TimeSeries.range(values);
        long[] bins = Baselines.bins(values, THRESHOLD * (range[1] - range[0]));
        int segments = Math.min(60, bins.length / Sizes.SEGMENT);
        double[][] y = new double[3][segments];
        for (int s = 0; s < segments; s++) {
            long[] part = Arrays.copyOfRange(bins, s * Sizes.SEGMENT, (s + 1) * Sizes.SEGMENT);
            for (long bin : Arrays.stream(part).distinct().toArray()) {
                RoaringBitmap bitmap = new RoaringBitmap();
                IntStream.range(0, part.length).filter(i -> part[i] == bin).forEach(bitmap::add);
                bitmap.runOptimize();
                double roaring = bitmap.serializedSizeInBytes();
                double plain = Sizes.SEGMENT / 8.0;
                y[0][s] += plain;
                y[1][s] += roaring;
                y[2][s] += Math.min(plain, roaring);
            }
        }
        double[] x = IntStream.range(0, segments).asDoubleStream().toArray();
        write(
                "fig-6-7",
                Chart.lines(
                        "Fig. 6.7: the inverted index of 1,024 observations, household power",
                        "segment",
                        "bytes",
                        List.of(
                                new Chart.Line("plain bitmaps", x, y[0]),
                                new Chart.Line("Roaring, runs", x, y[1]),
                                new Chart.Line("by occupancy", x, y[2]))));
        System.out.printf(
                java.util.Locale.ROOT,
                "Fig. 6.7: by occupancy %.0f %% smaller than Roaring, %.0f %% smaller than plain%n",
                100 - 100 * Arrays.stream(y[2]).sum() / Arrays.stream(y[1]).sum(),
                100 - 100 * Arrays.stream(y[2]).sum() / Arrays.stream(y[0]).sum());
    }

    private static double[] normalisedErrors(TimeSeries series, double share, Binning binning) {
        SketchSchema schema = Sizes.schema(series, share, binning);
        double[] squares = new double[schema.size()];
        long[] counts = new long[schema.size()];
        Versions versions = new Versions();
        int from = 0;
        for (EncodedSegment segment : Sizes.encode(series, schema, EncoderOptions.defaults())) {
            Sketch sketch = SegmentCodec.read(segment.bytes(), versions);
            for (int f = 0; f < squares.length; f++) {
                Column column = sketch.column(f);
                int[] ranks = column.sequence().ranks();
                for (int row = 0; row < ranks.length; row++) {
                    double value = series.features().get(f)[from + row];
                    if (Double.isFinite(value)) {
                        double miss = value - column.numbers().value(ranks[row]);
                        squares[f] += miss * miss;
                        counts[f]++;
                    }
                }
            }
            from += sketch.rows();
        }
        double[] errors = new double[squares.length];
        for (int f = 0; f < errors.length; f++) {
            double[] range = TimeSeries.range(series.features().get(f));
            errors[f] = counts[f] == 0 || range[1] <= range[0]
                    ? 0
                    : Math.sqrt(squares[f] / counts[f]) / (range[1] - range[0]);
        }
        return errors;
    }

    /** Fig. 6.12: the error of every feature, as a histogram. */
    private void errors(List<TimeSeries> sets) throws IOException {
        List<Chart.Line> lines = new ArrayList<>();
        for (Binning binning : List.of(Binning.SMALLEST, Binning.EQUAL_PROBABILITY)) {
            double[] histogram = new double[26];
            for (TimeSeries series : sets) {
                for (double error : normalisedErrors(series, THRESHOLD, binning)) {
                    histogram[(int) Math.min(25, Math.floor(error * 1000))]++;
                }
            }
            double[] x = IntStream.range(0, 26).mapToDouble(i -> i / 10.0).toArray();
            lines.add(new Chart.Line(binning.name().toLowerCase(java.util.Locale.ROOT), x, histogram));
        }
        write(
                "fig-6-12",
                Chart.lines(
                        "Fig. 6.12: errors of all sets' features, bound 2.5 % of range",
                        "NRMSE, %", "features", lines));
    }

    /** Fig. 6.13: sizes by bound. */
    private void thresholds(List<TimeSeries> sets) throws IOException {
        double[] percents = {.25, .5, 1, 2.5, 5, 7.5, 10};
        List<Chart.Line> lines = new ArrayList<>();
        for (TimeSeries series : sets) {
            if (!List.of("12 plugs", "household power", "Beijing air", "ECG 360 Hz")
                    .contains(series.name())) {
                continue;
            }
            TimeSeries some = series.truncated(16_384).regular();
            double[] smaller = new double[percents.length];
            for (int p = 0; p < percents.length; p++) {
                long bytes = Sizes.encode(
                                some,
                                Sizes.schema(some, percents[p] / 100, Binning.SMALLEST),
                                EncoderOptions.defaults())
                        .stream()
                        .mapToLong(segment -> segment.bytes().length)
                        .sum();
                smaller[p] = 8.0 * (1 + some.features().size()) * some.rows() / bytes;
            }
            lines.add(new Chart.Line(series.name(), percents, smaller));
        }
        write(
                "fig-6-13",
                Chart.lines("Fig. 6.13: sizes by bound", "bound, % of range", "times smaller than raw", lines));
    }
}
