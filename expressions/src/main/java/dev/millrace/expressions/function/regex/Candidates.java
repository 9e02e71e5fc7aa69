package dev.millrace.expressions.function.regex;

import dev.millrace.memory.Memory;
import java.util.Optional;

/**
 * Where matches of an expression can begin in one text, as far as the bytes that every match contains tell. Belongs to
 * one thread.
 */
final class Candidates {
    private static final int UNKNOWN = Integer.MAX_VALUE;

    private final Optional<RequiredLiteral> required;
    private int asked = UNKNOWN; // the last place asked for
    private int found; // where the literal was found then, -1 for no more

    Candidates(Optional<RequiredLiteral> required) {
        this.required = required;
    }

    /** Another text. */
    void reset() {
        asked = UNKNOWN;
    }

    /** Whether a search gains from asking again where nothing is under way. */
    boolean canSkip() {
        return required.isPresent() && required.get().isBounded();
    }

    /** The first place at or after {@code from} where a match may begin, or -1. */
    int next(long address, int length, int from) {
        if (required.isEmpty()) {
            return from;
        }
        RequiredLiteral literal = required.get();
        if (from < asked || found >= 0 && found < from + literal.least()) {
            found = literal.find(address, length, from + literal.least());
        }
        asked = from;
        if (found < 0) {
            return -1;
        }
        if (!literal.isBounded()) {
            return from;
        }
        int at = Math.max(from, found - literal.most());
        while (at > from && (Memory.getByte(address + at) & 0xc0) == 0x80) {
            at--;
        }
        return at;
    }
}
