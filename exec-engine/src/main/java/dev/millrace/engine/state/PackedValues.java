package dev.millrace.engine.state;

import dev.millrace.expressions.function.bytes.Bytes;
import dev.millrace.memory.Memory;

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
            bytes += length(Memory.getShort(rows[i] + slot) & 0xFFFF, rows[i] + ends[i], dictionary);
        }
        return bytes;
    }

    /** The length of a text with a mark, whose bytes are at an address if they are in the row. */
    static int length(int mark, long at, TextDictionary dictionary) {
        return mark >= PackedLayout.NUMBERED
                ? dictionary.length(mark - PackedLayout.NUMBERED)
                : mark == PackedLayout.LONG ? Memory.getInt(at) : mark;
    }

    /** The address of its bytes. */
    static long address(int mark, long at, TextDictionary dictionary) {
        return mark >= PackedLayout.NUMBERED
                ? dictionary.address(mark - PackedLayout.NUMBERED)
                : mark == PackedLayout.LONG ? at + 4 : at;
    }

    /** Copies a text with a mark, whose bytes are at {@code at} if they are in the row; returns its length. */
    static int copyText(int mark, long at, TextDictionary dictionary, long to) {
        int length = length(mark, at, dictionary);
        Bytes.copy(address(mark, at, dictionary), to, length);
        return length;
    }

    /** Copies a column of texts, with the offset behind each, and moves {@code ends} on to the next column's. */
    static void copyTexts(
            long[] rows, int slot, int[] ends, int count, TextDictionary dictionary, long to, long offsets) {
        int at = 0;
        for (int i = 0; i < count; i++) {
            int mark = Memory.getShort(rows[i] + slot) & 0xFFFF;
            long from = rows[i] + ends[i];
            at += copyText(mark, from, dictionary, to + at);
            ends[i] += PackedLayout.bytes(mark, from);
            Memory.putInt(offsets + 4L * i + 4, at);
        }
    }
}
