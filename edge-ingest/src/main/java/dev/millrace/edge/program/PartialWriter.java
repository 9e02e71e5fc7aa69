package dev.millrace.edge.program;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Numbers and texts as few bytes, as {@link Partials} says. Of one thread. */
final class PartialWriter {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    void octet(int value) {
        out.write(value);
    }

    /** Not negative: seven bits a byte, the least significant first. */
    void count(long value) {
        long left = value;
        while ((left & ~0x7fL) != 0) {
            out.write((int) (left & 0x7f | 0x80));
            left >>>= 7;
        }
        out.write((int) left);
    }

    /** Of any sign, small ones short. */
    void whole(long value) {
        count(value << 1 ^ value >> 63);
    }

    void number(double value) {
        long bits = Double.doubleToRawLongBits(value);
        for (int shift = 56; shift >= 0; shift -= 8) {
            out.write((int) (bits >>> shift));
        }
    }

    void text(String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        count(bytes.length);
        out.writeBytes(bytes);
    }

    byte[] bytes() {
        return out.toByteArray();
    }
}
