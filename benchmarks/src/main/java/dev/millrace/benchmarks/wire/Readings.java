package dev.millrace.benchmarks.wire;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Rows of a thousand devices, {@code (device, ts, value)}, one a millisecond, in the forms in which a server takes them. */
final class Readings {
    static final String COLUMNS = "device TEXT, ts TIMESTAMP, value DOUBLE PRECISION";

    private static final int DEVICES = 1000;
    private static final long START_2026_MICROS = 820_454_400_000_000L; // since 2000, as PostgreSQL counts

    private Readings() {}

    private static String device(long row) {
        return "device-" + row * 7 % DEVICES;
    }

    private static double value(long row) {
        return row % 10_007 / 16.0;
    }

    private static void time(StringBuilder to, long row) {
        long second = row / 1000;
        to.append("2026-01-");
        digits(to, 1 + second / 86_400 % 28, 2).append(' ');
        digits(to, second / 3600 % 24, 2).append(':');
        digits(to, second / 60 % 60, 2).append(':');
        digits(to, second % 60, 2).append('.');
        digits(to, row % 1000, 3);
    }

    private static StringBuilder digits(StringBuilder to, long value, int count) {
        for (long power = count == 3 ? 100 : 10; power > 0; power /= 10) {
            to.append((char) ('0' + value / power % 10));
        }
        return to;
    }

    /** Appends a row as INSERT has it. */
    static void literal(StringBuilder to, long row) {
        to.append("('").append(device(row)).append("', '");
        time(to, row);
        to.append("', ").append(value(row)).append(')');
    }

    /** An INSERT of rows from one on. */
    static String insert(String into, long from, int count) {
        StringBuilder sql = new StringBuilder("INSERT INTO " + into + " VALUES ");
        for (int i = 0; i < count; i++) {
            literal(sql.append(i == 0 ? "" : ", "), from + i);
        }
        return sql.toString();
    }

    /** Makes a table for them, anew. */
    static void createTable(WireClient client, String name) throws IOException {
        client.run("DROP TABLE IF EXISTS " + name);
        client.run("CREATE TABLE " + name + " (" + COLUMNS + ")");
    }

    /** Makes a stream for them and a windowed view on it, anew; not for PostgreSQL. */
    static void createStream(WireClient client, String name) throws IOException {
        client.run("DROP MATERIALIZED VIEW IF EXISTS wire_minutes");
        client.run("DROP STREAM IF EXISTS " + name);
        client.run("CREATE STREAM " + name + " (" + COLUMNS + ", WATERMARK FOR ts AS ts - INTERVAL '1 second')");
        client.run(
                "CREATE MATERIALIZED VIEW wire_minutes AS SELECT device, window_end, count(*) AS n, avg(value) AS mean"
                        + " FROM TUMBLE(TABLE " + name + ", DESCRIPTOR(ts), INTERVAL '1 minute')"
                        + " GROUP BY device, window_start, window_end");
    }

    /** Rows from one to another, as COPY's text. */
    static byte[] text(long from, long to) {
        StringBuilder lines = new StringBuilder();
        for (long row = from; row < to; row++) {
            lines.append(device(row)).append('\t');
            time(lines, row);
            lines.append('\t').append(value(row)).append('\n');
        }
        return lines.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Rows from one to another as COPY's binary tuples, without header and trailer. */
    static byte[] binary(long from, long to) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        for (long row = from; row < to; row++) {
            byte[] device = device(row).getBytes(StandardCharsets.UTF_8);
            out.writeShort(3);
            out.writeInt(device.length);
            out.write(device);
            out.writeInt(8);
            out.writeLong(START_2026_MICROS + row % (28L * 86_400_000) * 1000);
            out.writeInt(8);
            out.writeDouble(value(row));
        }
        return bytes.toByteArray();
    }

    /** What stands before the tuples of a binary COPY. */
    static byte[] binaryHeader() {
        byte[] header = new byte[19]; // the signature, flags and the length of an extension: both 0
        byte[] signature = "PGCOPY\n\377\r\n\0".getBytes(StandardCharsets.ISO_8859_1);
        System.arraycopy(signature, 0, header, 0, signature.length);
        return header;
    }

    /** What ends a binary COPY. */
    static byte[] binaryTrailer() {
        return new byte[] {-1, -1};
    }
}
