package dev.millrace.engine.function.regex;

import dev.millrace.batch.Memory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.Arrays;

/** Finds the matches of an expression in a text; belongs to one thread. Places are bytes from the text's start. */
public final class RegexMatcher {
    private final Regex regex;
    final int[] marks; // where groups begin and end, that of the whole match unused
    final int[] counters;
    long address;
    int length;
    int end;
    private int start;

    public RegexMatcher(Regex regex) {
        this.regex = regex;
        this.marks = new int[2 * regex.groups() + 2];
        this.counters = new int[regex.counters()];
    }

    /** The text to search. */
    public void reset(long newAddress, int newLength) {
        address = newAddress;
        length = newLength;
    }

    /** Where the last match begins. */
    public int start() {
        return start;
    }

    /** Where the last match ends. */
    public int end() {
        return end;
    }

    /** How many groups the expression has. */
    public int groups() {
        return regex.groups();
    }

    /** Where a group of the last match begins, 0 being all of it; -1 when it took no part. */
    public int start(int group) {
        return group == 0 ? start : marks[2 * group + 1] < 0 ? -1 : marks[2 * group];
    }

    /** Where a group of the last match ends. */
    public int end(int group) {
        return group == 0 ? end : marks[2 * group + 1];
    }

    /** Finds the first match that begins at or after byte {@code from}. */
    public boolean find(int from) {
        try {
            return regex.required().isPresent() ? findAround(regex.required().get(), from) : findAnywhere(from);
        } catch (StackOverflowError e) {
            throw MillraceException.resources(
                    SqlState.STATEMENT_TOO_COMPLEX, "the text is too long for this regular expression");
        }
    }

    private boolean findAround(RequiredLiteral required, int from) {
        int found = required.find(address, length, from + required.least());
        if (found < 0) {
            return false;
        }
        if (!required.isBounded() || regex.atStart()) {
            return findAnywhere(from);
        }
        int untried = from;
        while (found >= 0) {
            int last = found - required.least();
            for (int at = Math.max(untried, found - required.most()); at <= last; at++) {
                if (matchesAt(at)) {
                    return true;
                }
            }
            untried = Math.max(untried, last + 1);
            found = required.find(address, length, found + 1);
        }
        return false;
    }

    private boolean findAnywhere(int from) {
        if (regex.atStart()) {
            return from == 0 && matchesAt(0);
        }
        if (regex.firstCharacter().isPresent()) {
            CharSet first = regex.firstCharacter().get();
            for (int at = from; at < length; at++) {
                if (matchOne(first, at) > 0 && matchesAt(at)) {
                    return true;
                }
            }
            return false;
        }
        for (int at = from; at <= length; at++) {
            if (matchesAt(at)) {
                return true;
            }
        }
        return false;
    }

    private boolean matchesAt(int at) {
        if (isContinuation(at)) {
            return false;
        }
        Arrays.fill(marks, -1);
        start = at;
        return regex.first().matches(this, at);
    }

    /** Bytes of the character at a place if it is in the set, else 0. */
    int matchOne(CharSet set, int at) {
        if (at >= length) {
            return 0;
        }
        byte first = Memory.getByte(address + at);
        if (first >= 0) {
            return set.containsAscii(first) ? 1 : 0;
        }
        if ((first & 0xc0) == 0x80) {
            return 0; // within a character
        }
        int bytes = (first & 0xe0) == 0xc0 ? 2 : (first & 0xf0) == 0xe0 ? 3 : 4;
        return set.contains(codePoint(at)) ? bytes : 0;
    }

    private int codePoint(int at) {
        byte first = Memory.getByte(address + at);
        if (first >= 0) {
            return first;
        }
        int bytes = (first & 0xe0) == 0xc0 ? 2 : (first & 0xf0) == 0xe0 ? 3 : 4;
        int codePoint = first & (0xff >> (bytes + 1));
        for (int i = 1; i < bytes && at + i < length; i++) {
            codePoint = codePoint << 6 | (Memory.getByte(address + at + i) & 0x3f);
        }
        return codePoint;
    }

    /** Whether a place is within a character. */
    boolean isContinuation(int at) {
        return at < length && (Memory.getByte(address + at) & 0xc0) == 0x80;
    }

    boolean isNewline(int at) {
        return Memory.getByte(address + at) == '\n';
    }

    boolean isWordAt(int at) {
        return at < length && CharSet.isWord(codePoint(at));
    }

    boolean isWordBefore(int at) {
        int before = at - 1;
        while (before >= 0 && isContinuation(before)) {
            before--;
        }
        return before >= 0 && isWordAt(before);
    }

    /** Whether the bytes at two places are the same text. */
    boolean sameText(int a, int b, int bytes, boolean ignoreCase) {
        if (Memory.equal(address + a, address + b, bytes)) {
            return true;
        }
        if (!ignoreCase) {
            return false;
        }
        for (int i = 0; i < bytes; i++) {
            if (!isContinuation(a + i)
                    && Character.toLowerCase(codePoint(a + i)) != Character.toLowerCase(codePoint(b + i))) {
                return false;
            }
        }
        return true;
    }
}
