package dev.millrace.benchmarks.kafka;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/** The bids of the JSON topic in Avro's binary form, behind the number of their schema. */
final class AvroBid {
    static final String SCHEMA =
            "{\"type\":\"record\",\"name\":\"bid\",\"fields\":[{\"name\":\"auction\",\"type\":\"long\"},{\"name\":\"bidder\",\"type\":\"long\"},"
                    + "{\"name\":\"price\",\"type\":\"long\"},{\"name\":\"channel\",\"type\":\"string\"},{\"name\":\"url\",\"type\":\"string\"},"
                    + "{\"name\":\"datetime\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}},{\"name\":\"extra\",\"type\":\"string\"},"
                    + "{\"name\":\"currency\",\"type\":\"string\"},{\"name\":\"rate\",\"type\":\"double\"},{\"name\":\"automatic\",\"type\":\"boolean\"}]}";

    private static final long FIRST_MILLIS = 1_767_261_600_000L; // 2026-01-01 10:00
    private static final String EXTRA = "abcdefghij".repeat(5);

    private AvroBid() {}

    /** Ten thousand bids a second. */
    static byte[] of(int schema, SplittableRandom random, int i) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(180);
        out.writeBytes(ByteBuffer.allocate(5).put((byte) 0).putInt(schema).array());
        number(out, 1000 + random.nextInt(100_000));
        number(out, 1000 + random.nextInt(100_000));
        number(out, random.nextInt(10_000_000));
        text(out, "channel-" + random.nextInt(10_000));
        text(out, "https://www.nexmark.com/item.htm?query=" + random.nextInt(1_000_000));
        number(out, FIRST_MILLIS + i / 10);
        text(out, EXTRA);
        text(out, "EUR");
        out.writeBytes(ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putDouble(1.25)
                .array());
        out.write(0);
        return out.toByteArray();
    }

    private static void text(ByteArrayOutputStream out, String text) {
        number(out, text.length());
        out.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static void number(ByteArrayOutputStream out, long value) {
        long bits = value << 1 ^ value >> 63;
        while ((bits & ~0x7fL) != 0) {
            out.write((int) (bits & 0x7f | 0x80));
            bits >>>= 7;
        }
        out.write((int) bits);
    }
}
