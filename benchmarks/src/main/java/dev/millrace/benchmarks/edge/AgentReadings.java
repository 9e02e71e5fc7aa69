package dev.millrace.benchmarks.edge;

import dev.millrace.benchmarks.sketch.Baselines;
import dev.millrace.benchmarks.sketch.TimeSeries;
import java.io.BufferedWriter;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * A set, repeated until it has enough values: as lines that an agent reads, and what others would send of it.
 *
 * @param series one pass
 * @param passes how often
 */
record AgentReadings(TimeSeries series, int passes) {
    private static final int ROWS = 8192; // that are compressed together
    private static final int MICROS_PER_SECOND = 1_000_000;

    static AgentReadings of(TimeSeries series, long values) {
        long each = (long) series.rows() * series.features().size();
        return new AgentReadings(series, (int) Math.max(1, (values + each - 1) / each));
    }

    long rows() {
        return (long) series.rows() * passes;
    }

    long values() {
        return rows() * series.features().size();
    }

    /** From the first row to the last, with the pauses between passes. */
    double hours() {
        return (time(series.rows() - 1, passes - 1) - time(0, 0)) / 3600.0 / MICROS_PER_SECOND;
    }

    private long time(int row, int pass) {
        long[] micros = series.micros();
        long first = micros[0];
        long last = micros[micros.length - 1];
        long step = Math.max(1, (last - first) / Math.max(1, micros.length - 1));
        return micros[row] + pass * (last - first + step);
    }

    /** The columns as an agent's file declares them. */
    String agentColumns() {
        StringBuilder columns = new StringBuilder("\"ts timestamptz\"");
        for (int f = 0; f < series.features().size(); f++) {
            columns.append(", \"f").append(f).append(" double precision\"");
        }
        return columns.toString();
    }

    String sqlColumns() {
        return agentColumns().replace("\"", "");
    }

    /** Writes the lines. @return bytes as CSV, and what they would be as JSON, Protobuf, and columns in zstd */
    Sizes write(Path csv) throws IOException {
        long json = 0;
        long protobuf = 0;
        int features = series.features().size();
        try (BufferedWriter out = Files.newBufferedWriter(csv)) {
            for (int pass = 0; pass < passes; pass++) {
                for (int row = 0; row < series.rows(); row++) {
                    long micros = time(row, pass);
                    String time = java.time.Instant.ofEpochSecond(
                                    Math.floorDiv(micros, MICROS_PER_SECOND),
                                    Math.floorMod(micros, MICROS_PER_SECOND) * 1000L)
                            .toString();
                    out.write(time);
                    json += 7 + 2 + time.length() + 1; // {"ts":"..",
                    int message = 1 + varint(micros);
                    for (int f = 0; f < features; f++) {
                        double value = series.features().get(f)[row];
                        String text = Double.isNaN(value) ? "" : text(value);
                        out.write(',');
                        out.write(text);
                        if (!text.isEmpty()) {
                            json += 5 + String.valueOf(f).length() + text.length(); // "f0":1,
                            message += 1 + (f > 13 ? 1 : 0) + Double.BYTES;
                        }
                    }
                    out.write('\n');
                    json += 1;
                    protobuf += varint(message) + message;
                }
            }
        }
        return new Sizes(Files.size(csv), json, protobuf, compressed() * passes);
    }

    private static String text(double value) {
        return new BigDecimal(Double.toString(value)).stripTrailingZeros().toPlainString();
    }

    private static int varint(long value) {
        return (70 - Long.numberOfLeadingZeros(value | 1)) / 7;
    }

    private long compressed() {
        long bytes = 0;
        for (int from = 0; from < series.rows(); from += ROWS) {
            int to = Math.min(series.rows(), from + ROWS);
            bytes += Baselines.zstd(Baselines.raw(Arrays.copyOf(series.micros(), to), from, to));
            for (double[] feature : series.features()) {
                bytes += Baselines.zstd(Baselines.raw(feature, from, to));
            }
        }
        return bytes;
    }

    /**
     * Bytes of all readings.
     *
     * @param zstd columns of 8,192 rows, each compressed by zstd at its highest ordinary level
     */
    record Sizes(long csv, long json, long protobuf, long zstd) {}
}
