package dev.millrace.expressions.function.regex;

import dev.millrace.memory.Memory;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.IntConsumer;

/**
 * The classes of characters that an expression can tell apart: its automata read classes, not code points. Texts are read
 * where they lie, in UTF-8; a byte that begins no whole character counts as one. Immutable.
 */
final class Alphabet {
    private static final int BROKEN = 0xdc80; // what no text contains

    private final int[] starts; // of intervals of code points, ascending from 0
    private final int[] classOf; // per interval
    private final int[] ascii; // class per code point below 128
    private final int size;
    private final int[] sample; // a code point of each class
    private final Map<CharSet, long[]> members = new HashMap<>();

    /** @param sets what is to be told apart; letters of words and newlines are too if they are among them */
    Alphabet(List<CharSet> sets) {
        Map<CharSet, Boolean> distinct = new LinkedHashMap<>();
        sets.forEach(set -> distinct.put(set, true));
        TreeSet<Integer> bounds = new TreeSet<>(List.of(0));
        for (CharSet set : distinct.keySet()) {
            for (int bound : set.bounds()) {
                if (bound <= Character.MAX_CODE_POINT) {
                    bounds.add(bound);
                }
            }
        }
        starts = bounds.stream().mapToInt(Integer::intValue).toArray();
        classOf = new int[starts.length];
        int classes = 1;
        for (CharSet set : distinct.keySet()) {
            classes = refine(set, classes);
        }
        size = classes;
        sample = new int[size];
        for (int i = starts.length - 1; i >= 0; i--) {
            sample[classOf[i]] = starts[i];
        }
        ascii = new int[128];
        for (int c = 0; c < 128; c++) {
            ascii[c] = find(c);
        }
        distinct.keySet().forEach(set -> members.put(set, membersOf(set)));
    }

    /** Cuts each class that is partly in the set; returns how many there are then. */
    private int refine(CharSet set, int classes) {
        int[] sizes = new int[classes];
        for (int each : classOf) {
            sizes[each]++;
        }
        int[] within = new int[classes];
        forEachInterval(set, i -> within[classOf[i]]++);
        int[] renamed = new int[classes];
        int next = classes;
        for (int c = 0; c < classes; c++) {
            renamed[c] = within[c] > 0 && within[c] < sizes[c] ? next++ : c;
        }
        forEachInterval(set, i -> classOf[i] = renamed[classOf[i]]);
        return next;
    }

    private void forEachInterval(CharSet set, IntConsumer action) {
        int[] bounds = set.bounds();
        for (int i = 0; i < bounds.length; i += 2) {
            for (int at = Arrays.binarySearch(starts, bounds[i]);
                    at < starts.length && starts[at] < bounds[i + 1];
                    at++) {
                action.accept(at);
            }
        }
    }

    private long[] membersOf(CharSet set) {
        long[] bits = new long[(size + 63) / 64];
        for (int c = 0; c < size; c++) {
            if (set.contains(sample[c])) {
                bits[c >> 6] |= 1L << c;
            }
        }
        return bits;
    }

    private int find(int codePoint) {
        int found = Arrays.binarySearch(starts, codePoint);
        return classOf[found >= 0 ? found : -found - 2];
    }

    /** How many classes there are. */
    int size() {
        return size;
    }

    /** The classes of a set that was given, as bits. */
    long[] members(CharSet set) {
        return Objects.requireNonNull(members.get(set));
    }

    /** A code point of a class. */
    int sample(int characterClass) {
        return sample[characterClass];
    }

    int ofAscii(int c) {
        return ascii[c];
    }

    /** The class of the character at a place. */
    int at(long address, int at, int length) {
        byte first = Memory.getByte(address + at);
        return first >= 0 ? ascii[first] : find(codePoint(address, at, length));
    }

    /** How many bytes the character at a place takes. */
    static int bytes(long address, int at, int length) {
        byte first = Memory.getByte(address + at);
        if (first >= (byte) 0xc0 && first < 0) {
            int bytes = first < (byte) 0xe0 ? 2 : first < (byte) 0xf0 ? 3 : 4;
            for (int i = 1; i < bytes; i++) {
                if (at + i >= length || (Memory.getByte(address + at + i) & 0xc0) != 0x80) {
                    return 1;
                }
            }
            return bytes;
        }
        return 1;
    }

    /** Where the character before a place begins. */
    static int before(long address, int at, int length) {
        int start = at - 1;
        if (Memory.getByte(address + start) >= 0) {
            return start;
        }
        for (int back = 2; back <= 4 && at - back >= 0; back++) {
            if ((Memory.getByte(address + at - back) & 0xc0) != 0x80) {
                return bytes(address, at - back, length) == back ? at - back : start;
            }
        }
        return start;
    }

    static int codePoint(long address, int at, int length) {
        byte first = Memory.getByte(address + at);
        if (first >= 0) {
            return first;
        }
        int bytes = bytes(address, at, length);
        if (bytes == 1) {
            return BROKEN;
        }
        int codePoint = first & (0xff >> (bytes + 1));
        for (int i = 1; i < bytes; i++) {
            codePoint = codePoint << 6 | (Memory.getByte(address + at + i) & 0x3f);
        }
        return Math.min(codePoint, Character.MAX_CODE_POINT);
    }
}
