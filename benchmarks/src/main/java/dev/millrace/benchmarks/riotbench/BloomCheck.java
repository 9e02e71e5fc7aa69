package dev.millrace.benchmarks.riotbench;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** {@code bloom_contains(bytea, text) RETURNS BOOLEAN}: whether a text may be among those a filter was made of. */
public final class BloomCheck {
    static final int BITS = 4096;
    private static final int HASHES = 3;

    private BloomCheck() {}

    public static boolean bloom_contains(byte[] filter, String text) {
        for (int bit : bits(text)) {
            if ((filter[bit / Byte.SIZE] & 1 << bit % Byte.SIZE) == 0) {
                return false;
            }
        }
        return true;
    }

    static int[] bits(String text) {
        try {
            ByteBuffer hash =
                    ByteBuffer.wrap(MessageDigest.getInstance("MD5").digest(text.getBytes(StandardCharsets.UTF_8)));
            int[] bits = new int[HASHES];
            for (int i = 0; i < HASHES; i++) {
                bits[i] = Integer.remainderUnsigned(hash.getInt(), BITS);
            }
            return bits;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
