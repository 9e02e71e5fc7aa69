package dev.millrace.sketch.segment;

/** Puts a matching checksum on changed bytes. */
public final class SegmentSeal {
    private SegmentSeal() {}

    public static void seal(byte[] bytes) {
        int checksum = SegmentCodec.checksum(bytes);
        for (int i = 0; i < 4; i++) {
            bytes[1 + i] = (byte) (checksum >>> 8 * i);
        }
    }
}
