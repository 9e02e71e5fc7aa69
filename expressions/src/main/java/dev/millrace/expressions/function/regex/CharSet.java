package dev.millrace.expressions.function.regex;

import dev.millrace.interrupt.Interrupt;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/** A set of code points: ranges, and those of ASCII as a bitmap. Immutable. */
final class CharSet {
    private static final int LAST_SPACE = 0x3000; // of all code points

    static final CharSet ANY = builder().add(0, Character.MAX_CODE_POINT).build(false, false);
    static final CharSet DIGIT = builder().add('0', '9').build(false, false);
    static final CharSet SPACE = builder()
            .add(0, LAST_SPACE, CharSet::isSpace, c -> {}) // what a class fails with at first it fails with for ever
            .build(false, false);

    /** Of one character each, as long patterns have by thousands. */
    private static final AtomicReferenceArray<CharSet> SINGLES = new AtomicReferenceArray<>(128);

    private final int[] bounds; // ascending; members are those from one at an even index to before the next
    private final long low; // code points 0 to 63
    private final long high; // 64 to 127

    private CharSet(int[] bounds) {
        this.bounds = bounds;
        long lowBits = 0;
        long highBits = 0;
        for (int c = 0; c < 64; c++) {
            lowBits |= isWithin(c) ? 1L << c : 0;
            highBits |= isWithin(c + 64) ? 1L << c : 0;
        }
        low = lowBits;
        high = highBits;
    }

    static boolean isSpace(int c) {
        return c == ' ' || (c >= '\t' && c <= '\r') || (c > 127 && Character.isWhitespace(c));
    }

    static boolean isWord(int c) {
        return c == '_' || Character.isLetterOrDigit(c);
    }

    private boolean isWithin(int codePoint) {
        int found = Arrays.binarySearch(bounds, codePoint);
        return ((found >= 0 ? found : -found - 2) & 1) == 0 && (found >= 0 || found < -1);
    }

    boolean containsAscii(int c) {
        return ((c < 64 ? low : high) >>> c & 1) != 0; // the shift takes the lower six bits
    }

    boolean contains(int codePoint) {
        return codePoint < 128 ? containsAscii(codePoint) : isWithin(codePoint);
    }

    /** Where membership changes, ascending; the first is a member, and the last may be behind all code points. */
    int[] bounds() {
        return bounds;
    }

    /** Whether the set has members of ASCII only, one byte each. */
    boolean isAscii() {
        return bounds.length == 0 || bounds[bounds.length - 1] <= 128;
    }

    CharSet negated() {
        Builder others = builder();
        int from = 0;
        for (int i = 0; i < bounds.length; i += 2) {
            others.add(from, bounds[i] - 1);
            from = bounds[i + 1];
        }
        return others.add(from, Character.MAX_CODE_POINT).build(false, false);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CharSet set && Arrays.equals(bounds, set.bounds);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bounds);
    }

    static CharSet of(int codePoint) {
        if (codePoint >= SINGLES.length()) {
            return single(codePoint);
        }
        CharSet known = SINGLES.get(codePoint);
        if (known == null) {
            known = single(codePoint);
            SINGLES.set(codePoint, known);
        }
        return known;
    }

    private static CharSet single(int codePoint) {
        return builder().add(codePoint, codePoint).build(false, false);
    }

    static Builder builder() {
        return new Builder();
    }

    /** Those with two cases; found when the first expression without regard to case is compiled. */
    private static final class Cased {
        static final int[] LETTERS = letters();

        private static int[] letters() {
            int[] found = new int[4096];
            int count = 0;
            for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
                if (Character.toLowerCase(c) != c || Character.toUpperCase(c) != c) {
                    found = count == found.length ? Arrays.copyOf(found, 2 * count) : found;
                    found[count++] = c;
                }
            }
            return Arrays.copyOf(found, count);
        }
    }

    /** Gathers members. */
    static final class Builder {
        private long[] ranges = new long[8]; // first and last member, each
        private int count;

        Builder add(int from, int to) {
            if (from <= to) {
                ranges = count == ranges.length ? Arrays.copyOf(ranges, 2 * count) : ranges;
                ranges[count++] = (long) from << 32 | to;
            }
            return this;
        }

        /** Those of all code points that are members: tens of milliseconds for a cold JVM. */
        Builder add(IntPredicate members) {
            return add(0, Character.MAX_CODE_POINT, members, Interrupt::checkSometimes);
        }

        private Builder add(int first, int last, IntPredicate members, IntConsumer look) {
            int from = -1;
            for (int c = first; c <= last + 1; c++) {
                look.accept(c);
                boolean member = c <= last && members.test(c);
                if (member && from < 0) {
                    from = c;
                } else if (!member && from >= 0) {
                    add(from, c - 1);
                    from = -1;
                }
            }
            return this;
        }

        Builder add(CharSet set) {
            for (int i = 0; i < set.bounds.length; i += 2) {
                add(set.bounds[i], set.bounds[i + 1] - 1);
            }
            return this;
        }

        /** @param ignoreCase whether the other case of each member is one too */
        CharSet build(boolean ignoreCase, boolean negated) {
            CharSet set = new CharSet(merged());
            if (ignoreCase) {
                int[] given = set.bounds;
                for (int i = 0; i < given.length; i += 2) {
                    eachCased(given[i], given[i + 1], c -> {
                        add(Character.toLowerCase(c), Character.toLowerCase(c));
                        add(Character.toUpperCase(c), Character.toUpperCase(c));
                    });
                }
                set = new CharSet(merged());
            }
            return negated ? set.negated() : set;
        }

        private static void eachCased(int from, int end, IntConsumer action) {
            if (end - from <= 128) {
                for (int c = from; c < end; c++) {
                    action.accept(c);
                }
                return;
            }
            int found = Arrays.binarySearch(Cased.LETTERS, from);
            for (int i = found < 0 ? -found - 1 : found; i < Cased.LETTERS.length && Cased.LETTERS[i] < end; i++) {
                action.accept(Cased.LETTERS[i]);
            }
        }

        private int[] merged() {
            Arrays.sort(ranges, 0, count);
            int[] merged = new int[2 * count];
            int used = 0;
            for (int i = 0; i < count; i++) {
                int from = (int) (ranges[i] >>> 32);
                int end = (int) ranges[i] + 1;
                if (used > 0 && from <= merged[used - 1]) {
                    merged[used - 1] = Math.max(merged[used - 1], end);
                } else {
                    merged[used++] = from;
                    merged[used++] = end;
                }
            }
            return Arrays.copyOf(merged, used);
        }
    }
}
