package dev.millrace.engine.state;

import dev.millrace.batch.Memory;
import dev.millrace.engine.function.bytes.Bytes;

/**
 * The loops that copy a column of packed rows. They are methods of their own and allocate nothing: together with what
 * makes a vector the compiler takes a second over them, while they run uncompiled.
 */
final class PackedValues {
    private PackedValues() {}

    /** Copies values of a width, 0 for BOOLEAN, from a slot of each row. */
    static void copy(int width, long[] rows, int slot, int count, long to) {
        switch (width) {
            case 8 -> {
                for (int i = 0; i < count; i++) {
                    Memory.putLong(to + 8L * i, Memory.getLong(rows[i] + slot));
                }
            }
            case 4 -> {
                for (int i = 0; i < count; i++) {
                    Memory.putInt(to + 4L * i, Memory.getInt(rows[i] + slot));
                }
            }
            case 2 -> {
                for (int i = 0; i < count; i++) {
                    Memory.putShort(to + 2L * i, Memory.getShort(rows[i] + slot));
                }
            }
            case 16 -> {
                for (int i = 0; i < count; i++) {
                    Memory.putLong(to + 16L * i, Memory.getLong(rows[i] + slot));
                    Memory.putLong(to + 16L * i + 8, Memory.getLong(rows[i] + slot + 8));
                }
            }
            default -> {
                Memory.fill(to, (count + 7) >>> 3, (byte) 0);
                for (int i = 0; i < count; i++) {
                    if (Memory.getByte(rows[i] + slot) != 0) {
                        Memory.setBit(to, i);
                    }
                }
            }
        }
    }

    /** How many bytes a column of texts has; {@code ends} is where each row's is, {@code slot} its mark. */
    static long textBytes(long[] rows, int slot, int[] ends, int count, TextDictionary dictionary) {
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            int mark = Memory.getShort(rows[i] + slot) & 0xFFFF;
            bytes += mark >= PackedLayout.NUMBERED
                    ? dictionary.length(mark - PackedLayout.NUMBERED)
                    : mark == PackedLayout.LONG ? Memory.getInt(rows[i] + ends[i]) : mark;
        }
        return bytes;
    }

    /** Copies a column of texts, with the offset behind each, and moves {@code ends} on to the next column's. */
    static void copyTexts(
            long[] rows, int slot, int[] ends, int count, TextDictionary dictionary, long to, long offsets) {
        int at = 0;
        for (int i = 0; i < count; i++) {
            int mark = Memory.getShort(rows[i] + slot) & 0xFFFF;
            int length = mark;
            long from;
            if (mark >= PackedLayout.NUMBERED) {
                from = dictionary.address(mark - PackedLayout.NUMBERED);
                length = dictionary.length(mark - PackedLayout.NUMBERED);
            } else {
                if (mark == PackedLayout.LONG) {
                    length = Memory.getInt(rows[i] + ends[i]);
                    ends[i] += 4;
                }
                from = rows[i] + ends[i];
                ends[i] += length;
            }
            Bytes.copy(from, to + at, length);
            at += length;
            Memory.putInt(offsets + 4L * i + 4, at);
        }
    }
}
