package dev.millrace.storage.column;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PackedColumnTest {
    private static final int LENGTH = 50_000;

    private final Random random = new Random(1);

    private static ByteBuffer direct(byte[] bytes, int length) {
        return ByteBuffer.allocateDirect(length).put(bytes, 0, length).flip();
    }

    private static byte[] unpack(int kind, ByteBuffer packed, int length) {
        ByteBuffer raw = ByteBuffer.allocateDirect(length);
        PackedColumn.unpack(kind, packed, raw);
        byte[] bytes = new byte[length];
        raw.get(bytes);
        return bytes;
    }

    /** Packs, unpacks, and gives how it was compressed. */
    private static int roundTrip(byte[] bytes) {
        ByteOutput out = new ByteOutput();
        out.putBytes(bytes, 0, bytes.length);
        try (PackedColumn packed = new PackedColumn()) {
            packed.pack(out);
            if (packed.kind() == PackedColumn.PLAIN) {
                assertEquals(bytes.length, packed.length());
                return packed.kind();
            }
            assertTrue(packed.length() < bytes.length);
            ByteBuffer direct = direct(packed.array(), packed.length());
            assertTrue(Arrays.equals(bytes, unpack(packed.kind(), direct, bytes.length)));
            return packed.kind();
        }
    }

    private byte[] letters(int of) {
        byte[] bytes = new byte[LENGTH];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) ('a' + random.nextInt(of));
        }
        return bytes;
    }

    @Test
    void whatPaysIsTaken() {
        byte[] noise = new byte[LENGTH];
        random.nextBytes(noise);
        assertEquals(PackedColumn.PLAIN, roundTrip(noise));
        byte[] repeated = new byte[LENGTH];
        for (int i = 0; i < LENGTH; i++) {
            repeated[i] = noise[i % 1000];
        }
        assertEquals(PackedColumn.LZ4, roundTrip(repeated));
        assertEquals(PackedColumn.ZSTD, roundTrip(letters(16)));
        assertEquals(PackedColumn.PLAIN, roundTrip(new byte[10]));
    }

    @Test
    void bytesThatAreNoSuchAreRefused() {
        byte[] bytes = letters(16);
        ByteOutput out = new ByteOutput();
        out.putBytes(bytes, 0, bytes.length);
        try (PackedColumn packed = new PackedColumn()) {
            packed.pack(out);
            byte[] whole = Arrays.copyOf(packed.array(), packed.length());
            for (int kind : new int[] {PackedColumn.LZ4, PackedColumn.ZSTD, 3}) {
                for (int change = 0; change < 500; change++) {
                    byte[] changed = whole.clone();
                    changed[change % 2 == 0 ? change % 20 : random.nextInt(whole.length)] ^=
                            (byte) (1 + random.nextInt(255));
                    int length = change % 5 == 0 ? random.nextInt(whole.length) : whole.length;
                    try {
                        unpack(kind, direct(changed, length), LENGTH);
                        assertEquals(PackedColumn.ZSTD, kind, "other letters, of the same number");
                    } catch (EncodingException e) {
                        assertTrue(e.getMessage().contains("compress"), e.getMessage());
                    }
                }
            }
            ByteBuffer direct = direct(whole, whole.length);
            assertThrows(EncodingException.class, () -> unpack(PackedColumn.ZSTD, direct, LENGTH - 1));
            assertThrows(EncodingException.class, () -> unpack(PackedColumn.ZSTD, direct, LENGTH + 1));
        }
    }
}
