package dev.millrace.server.bytes;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** A valid message and where in it are the numbers and signs by which a reader finds its way. */
final class Layout {
    private static final String SIGNS = "{}[]\"\\,:\n\r\t;'()0-.eE\0\u00c3\u00ff";
    private static final int DEEP = 3000;

    /** A number of 1, 2, 4 or 8 bytes. */
    private record Place(int at, int width, ByteOrder order) {}

    private final byte[] bytes;
    private final List<Place> numbers = new ArrayList<>();
    private final List<Integer> signs = new ArrayList<>();

    Layout(byte[] bytes) {
        this.bytes = bytes;
    }

    byte[] bytes() {
        return bytes;
    }

    /** A number whose damage is most worth while: such are chosen as often as all others together. */
    Layout number(int at, int width, ByteOrder order) {
        if (at >= 0 && at + width <= bytes.length) {
            numbers.add(new Place(at, width, order));
        }
        return this;
    }

    /** Marks the signs of a text that stand between its parts. */
    Layout text() {
        for (int i = 0; i < bytes.length; i++) {
            if (SIGNS.indexOf(bytes[i] & 0xff) >= 0) {
                signs.add(i);
            }
        }
        return this;
    }

    /** The message with one to four things changed, rarely with none. */
    byte[] damaged(Random random) {
        byte[] damaged = bytes.clone();
        for (int n = random.nextInt(20) == 0 ? 0 : 1 + random.nextInt(4) / 2; n > 0; n--) {
            damaged = damagedOnce(damaged, random);
        }
        return damaged;
    }

    private byte[] damagedOnce(byte[] from, Random random) {
        int kind = random.nextInt(20);
        if (kind < 12 && !numbers.isEmpty()) {
            Place place = numbers.get(random.nextInt(numbers.size()));
            if (place.at() + place.width() <= from.length) {
                put(from, place, random);
            }
            return from;
        }
        if (kind < 15 && !signs.isEmpty()) {
            return sign(from, signs.get(random.nextInt(signs.size())), random);
        }
        if (from.length == 0) {
            return from;
        }
        int at = random.nextInt(from.length);
        switch (kind) {
            case 15 -> {
                return Arrays.copyOf(from, at);
            }
            case 16 -> {
                return spliced(
                        from, at, 0, Arrays.copyOfRange(from, at, Math.min(from.length, at + 1 + random.nextInt(64))));
            }
            case 17 -> {
                return spliced(from, at, 1 + random.nextInt(16), new byte[0]);
            }
            case 18 -> from[at] = (byte) random.nextInt();
            default -> from[at] ^= (byte) (1 << random.nextInt(8));
        }
        return from;
    }

    private byte[] sign(byte[] from, int at, Random random) {
        byte sign = (byte) SIGNS.charAt(random.nextInt(SIGNS.length()));
        if (at >= from.length) {
            return from;
        }
        return switch (random.nextInt(5)) {
            case 0 -> spliced(from, at, 1, new byte[0]);
            case 1 -> spliced(from, at, 1, new byte[] {sign});
            case 2 -> spliced(from, at, 0, new byte[] {sign});
            case 3 -> {
                byte[] deep = new byte[1 + random.nextInt(DEEP)];
                Arrays.fill(deep, from[at]);
                yield spliced(from, at, 0, deep);
            }
            default -> {
                byte[] digits = new byte[1 + random.nextInt(40)];
                Arrays.fill(digits, (byte) ('0' + random.nextInt(10)));
                yield spliced(from, at, 1, digits);
            }
        };
    }

    private static byte[] spliced(byte[] from, int at, int without, byte[] with) {
        int behind = Math.min(from.length, at + without);
        byte[] result = new byte[from.length - (behind - at) + with.length];
        System.arraycopy(from, 0, result, 0, at);
        System.arraycopy(with, 0, result, at, with.length);
        System.arraycopy(from, behind, result, at + with.length, from.length - behind);
        return result;
    }

    private static void put(byte[] bytes, Place place, Random random) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(place.order());
        int at = place.at();
        switch (place.width()) {
            case 1 -> buffer.put(at, (byte) other(buffer.get(at), 8, bytes.length, random));
            case 2 -> buffer.putShort(at, (short) other(buffer.getShort(at), 16, bytes.length, random));
            case 4 -> buffer.putInt(at, (int) other(buffer.getInt(at), 32, bytes.length, random));
            default -> buffer.putLong(at, other(buffer.getLong(at), 64, bytes.length, random));
        }
    }

    /** A number that a reader might trip over in the place of this one. */
    private static long other(long value, int bits, int length, Random random) {
        return switch (random.nextInt(16)) {
            case 0 -> 0;
            case 1 -> -1;
            case 2 -> value + 1;
            case 3 -> value - 1;
            case 4 -> value + (random.nextInt(64) - 32);
            case 5 -> (1L << bits - 1) - 1;
            case 6 -> -1L << bits - 1;
            case 7 -> (1L << bits - 1) - 1 - random.nextInt(64);
            case 8 -> value * 2;
            case 9 -> value / 2;
            case 10 -> -value;
            case 11 -> length;
            case 12 -> random.nextInt(Math.max(1, 2 * length));
            case 13 -> 1L << random.nextInt(bits);
            case 14 -> (1L << random.nextInt(bits)) - 1 - random.nextInt(8);
            default -> random.nextLong();
        };
    }
}
