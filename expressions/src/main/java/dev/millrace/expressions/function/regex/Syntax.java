package dev.millrace.expressions.function.regex;

import java.util.List;

/** A parsed regular expression. */
sealed interface Syntax {
    /** What matches the empty text at certain places. */
    enum Place {
        TEXT_START,
        TEXT_END,
        LINE_START,
        LINE_END,
        WORD_START,
        WORD_END,
        WORD_BOUNDARY,
        NO_WORD_BOUNDARY
    }

    /** One character, exactly. */
    record Literal(int codePoint) implements Syntax {}

    record OneOf(CharSet set) implements Syntax {}

    record Sequence(List<Syntax> parts) implements Syntax {}

    record Alternatives(List<Syntax> branches) implements Syntax {}

    /** @param preference of the quantifier itself; that of {m} is none: what it repeats decides */
    record Repeat(Syntax body, int least, int most, Preference preference) implements Syntax {
        static final int UNLIMITED = Integer.MAX_VALUE;

        boolean greedy() {
            return preference != Preference.SHORTEST;
        }
    }

    /** Which of several matches that begin at one place is wanted. */
    enum Preference {
        NONE,
        LONGEST,
        SHORTEST
    }

    /** A group that is captured, numbered from 1. */
    record Group(int number, Syntax body) implements Syntax {}

    record At(Place place) implements Syntax {}

    record BackReference(int group) implements Syntax {}

    /** Whether the text before or behind matches. */
    record Look(Syntax body, boolean behind, boolean negated) implements Syntax {}
}
