package dev.millrace.expressions.function.regex;

import java.util.List;

/** A parsed regular expression. */
sealed interface RegexSyntax {
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
    record Literal(int codePoint) implements RegexSyntax {}

    record OneOf(CharSet set) implements RegexSyntax {}

    record Sequence(List<RegexSyntax> parts) implements RegexSyntax {}

    record Alternatives(List<RegexSyntax> branches) implements RegexSyntax {}

    /** @param preference of the quantifier itself; that of {m} is none: what it repeats decides */
    record Repeat(RegexSyntax body, int least, int most, Preference preference) implements RegexSyntax {
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
    record Group(int number, RegexSyntax body) implements RegexSyntax {}

    record At(Place place) implements RegexSyntax {}

    record BackReference(int group) implements RegexSyntax {}

    /** Whether the text before or behind matches. */
    record Look(RegexSyntax body, boolean behind, boolean negated) implements RegexSyntax {}
}
