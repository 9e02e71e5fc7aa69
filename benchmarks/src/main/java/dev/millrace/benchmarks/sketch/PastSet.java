package dev.millrace.benchmarks.sketch;

import dev.millrace.benchmarks.sketch.PastCommand.Kind;
import dev.millrace.sketch.file.SketchFileWriter;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.Observations;
import dev.millrace.sketch.stream.StreamEncoder;
import dev.millrace.testing.oracle.Oracle;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A day of readings of some plugs, one a second, repeated: as files of sketches, one for each plug, and as Parquet.
 *
 * @param days how often the day is there
 * @param plugs by plug and second
 */
record PastSet(String name, int days, List<double[]> plugs) {
    private static final int DAY_SECONDS = 86_400;
    private static final long START = 1_325_376_000_000_000L; // 2012-01-01
    private static final double SHARE = .01;

    static PastSet of(Kind kind, int plugs, int days, DataSets data) throws IOException {
        List<double[]> known = kind == Kind.PLUGS
                ? data.everyPlug()
                : List.of(SyntheticSeries.NOISY.make(DAY_SECONDS).features().get(0));
        List<double[]> all = new ArrayList<>();
        for (int plug = 0; plug < plugs; plug++) {
            all.add(turned(known.get(plug % known.size()), plug * 977));
        }
        return new PastSet(kind.name().toLowerCase(java.util.Locale.ROOT), days, all);
    }

    /** The same day, begun at another second: so that no two plugs are alike. */
    private static double[] turned(double[] day, int seconds) {
        double[] turned = new double[DAY_SECONDS];
        for (int second = 0; second < turned.length; second++) {
            turned[second] = day[(second + seconds) % day.length];
        }
        return turned;
    }

    long rows() {
        return (long) days * DAY_SECONDS * plugs.size();
    }

    /** A value that some of the readings exceed. */
    double threshold() {
        double[] all = plugs.stream()
                .flatMapToDouble(java.util.Arrays::stream)
                .sorted()
                .toArray();
        return Math.floor(all[all.length * 3 / 5]) + .5;
    }

    /** Writes files of sketches; returns them. */
    List<Path> sketches(Path folder, int segmentRows) {
        List<Path> files = new ArrayList<>();
        SketchSchema schema = SketchSchema.of(Feature.number("watts", Bound.ofRange(SHARE)), Feature.text("plug"));
        for (int plug = 0; plug < plugs.size(); plug++) {
            Path path = folder.resolve(name + plug + ".sketch");
            try (SketchFileWriter file = SketchFileWriter.create(path, true)) {
                StreamEncoder encoder = new StreamEncoder(
                        schema,
                        EncoderOptions.defaults().withSegmentRows(segmentRows),
                        segment -> file.add(segment.bytes()));
                for (long second = 0; second < (long) days * DAY_SECONDS; second++) {
                    Observations row = encoder.row(START + second * 1_000_000);
                    row.number(0, plugs.get(plug)[(int) (second % DAY_SECONDS)]);
                    row.text(1, "plug " + plug);
                }
                encoder.flush();
            }
            files.add(path);
        }
        return files;
    }

    /** Writes a file for each quarter of a day, in the order of time, and one of all; returns the quarters. */
    List<Path> parquet(Path folder, Path all, Oracle duck) throws IOException {
        Path csv = folder.resolve(name + ".csv");
        try (BufferedWriter out = Files.newBufferedWriter(csv)) {
            for (int second = 0; second < DAY_SECONDS; second++) {
                for (int plug = 0; plug < plugs.size(); plug++) {
                    out.write(second + "," + plug + "," + plugs.get(plug)[second] + "\n");
                }
            }
        }
        duck.execute("CREATE TABLE " + name + " AS SELECT s, p, watts FROM read_csv('" + csv
                + "', columns = {'s': 'BIGINT', 'p': 'BIGINT', 'watts': 'DOUBLE'}, header = false)");
        String rows = "SELECT to_timestamp(0)::timestamp + to_microseconds(" + START
                + " + (d * 86400 + s) * 1000000) AS time, watts, 'plug ' || p AS plug FROM " + name;
        List<Path> quarters = new ArrayList<>();
        for (int quarter = 0; quarter < 4 * days; quarter++) {
            Path file = folder.resolve(name + "-" + quarter + ".parquet");
            int from = quarter % 4 * DAY_SECONDS / 4;
            duck.execute("COPY (" + rows + ", (SELECT " + quarter / 4 + " AS d) WHERE s >= " + from + " AND s < "
                    + (from + DAY_SECONDS / 4) + " ORDER BY time, plug) TO '" + file
                    + "' (FORMAT parquet, COMPRESSION zstd)");
            quarters.add(file);
        }
        duck.execute("COPY (" + rows + ", range(" + days + ") AS t(d) ORDER BY time, plug) TO '" + all
                + "' (FORMAT parquet, COMPRESSION zstd)");
        Files.delete(csv);
        return quarters;
    }
}
