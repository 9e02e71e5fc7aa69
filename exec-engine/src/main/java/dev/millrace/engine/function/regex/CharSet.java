package dev.millrace.engine.function.regex;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;

/** A set of code points; those of ASCII as a bitmap. Immutable. */
final class CharSet {
    static final CharSet ANY = builder().add(0, Character.MAX_CODE_POINT).build(false, false);
    static final CharSet DIGIT = builder().add(Character::isDigit).build(false, false);
    static final CharSet SPACE = builder().add(CharSet::isSpace).build(false, false);
    static final CharSet WORD = builder().add(CharSet::isWord).build(false, false);

    private final long low; // code points 0 to 63
    private final long high; // 64 to 127
    private final IntPredicate others;

    private CharSet(IntPredicate members) {
        long lowBits = 0;
        long highBits = 0;
        for (int c = 0; c < 64; c++) {
            lowBits |= members.test(c) ? 1L << c : 0;
            highBits |= members.test(c + 64) ? 1L << c : 0;
        }
        low = lowBits;
        high = highBits;
        others = members;
    }

    static boolean isSpace(int c) {
        return c == ' ' || (c >= '\t' && c <= '\r') || (c > 127 && Character.isWhitespace(c));
    }

    static boolean isWord(int c) {
        return c == '_' || Character.isLetterOrDigit(c);
    }

    boolean containsAscii(int c) {
        return ((c < 64 ? low : high) >>> c & 1) != 0; // the shift takes the lower six bits
    }

    boolean contains(int codePoint) {
        return codePoint < 128 ? containsAscii(codePoint) : others.test(codePoint);
    }

    CharSet negated() {
        return new CharSet(others.negate());
    }

    static Builder builder() {
        return new Builder();
    }

    /** Gathers members. */
    static final class Builder {
        private final List<IntPredicate> parts = new ArrayList<>();

        Builder add(int from, int to) {
            parts.add(c -> c >= from && c <= to);
            return this;
        }

        Builder add(IntPredicate members) {
            parts.add(members);
            return this;
        }

        Builder add(CharSet set) {
            return add(set::contains);
        }

        CharSet build(boolean ignoreCase, boolean negated) {
            List<IntPredicate> all = List.copyOf(parts);
            IntPredicate members = c -> all.stream().anyMatch(part -> part.test(c));
            IntPredicate folded = ignoreCase
                    ? c -> members.test(c)
                            || members.test(Character.toLowerCase(c))
                            || members.test(Character.toUpperCase(c))
                    : members;
            return new CharSet(negated ? folded.negate() : folded);
        }
    }
}
