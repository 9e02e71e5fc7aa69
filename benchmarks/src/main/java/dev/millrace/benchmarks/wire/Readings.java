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

    private static String time(long row) {
        long second = row / 1000;
        return String.format(
                "2026-01-%02d %02d:%02d:%02d.%03d",
                1 + second / 86_400 % 28, second / 3600 % 24, second / 60 % 60, second % 60, row % 1000);
    }

    static String literal(long row) {
        return "('" + device(row) + "', '" + time(row) + "', " + value(row) + ")";
    }

    /** Rows from one to another, as COPY's text. */
    static byte[] text(long from, long to) {
        StringBuilder lines = new StringBuilder();
        for (long row = from; row < to; row++) {
            lines.append(device(row))
                    .append('\t')
                    .append(time(row))
                    .append('\t')
                    .append(value(row))
                    .append('\n');
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
