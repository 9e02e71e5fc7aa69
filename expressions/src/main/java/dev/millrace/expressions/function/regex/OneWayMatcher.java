package dev.millrace.expressions.function.regex;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Finds the matches of an {@link OneWay} expression, groups and all, in one pass over each: what it tries at a place is
 * linear in what it reads. As it tries one place after another it may read much again and again; it gives up then, and
 * automata go on. Belongs to one thread. Places are bytes from the text's start.
 */
final class OneWayMatcher {
    private static final int WORK_PER_TRY = 8;
    private static final int WORK_PER_BYTE = 16;
    private static final int WORK_PER_LOOK = 4096;

    private final Node first;
    private final @Nullable RequiredLiteral required; // null when nothing is
    private final @Nullable CharSet firstCharacter; // null when it is not known
    private final boolean atStart;
    final int[] marks; // where groups begin and end, that of the whole match unused
    final int[] counters;
    long address;
    int length;
    int end;
    long work; // characters read and places tried in this text
    private int start;
    private long mostWork;
    private long nextLook; // at the interrupt
    private int untried; // where it gave up

    /** @param marks where groups begin and end: written for each match */
    OneWayMatcher(OneWay regex, int[] marks) {
        this.marks = marks;
        this.first = regex.first();
        this.required = regex.required().orElse(null);
        this.firstCharacter = regex.firstCharacter().orElse(null);
        this.atStart = regex.atStart();
        this.counters = new int[regex.counters()];
    }

    /** The text to search. */
    void reset(long newAddress, int newLength) {
        address = newAddress;
        length = newLength;
        work = 0;
        mostWork = (long) WORK_PER_BYTE * newLength + 1024;
        nextLook = WORK_PER_LOOK;
    }

    /** Whether it has read so much of the text again that it leaves the rest to others. */
    boolean hasGivenUp() {
        return work > mostWork;
    }

    /** Whether what every match contains, or where it begins, tells where to try. */
    boolean isQuick() {
        return atStart || required != null && required.isBounded();
    }

    /** Where the first place is that was not tried when it gave up. */
    int untried() {
        return untried;
    }

    /** Where the last match begins. */
    int start() {
        return start;
    }

    /** Where the last match ends. */
    int end() {
        return end;
    }

    /** Finds the first match that begins at or after byte {@code from}; false too when it gives up. */
    boolean find(int from) {
        untried = from;
        return required != null ? findAround(required, from) : findAnywhere(from);
    }

    private boolean isOver(int at) {
        untried = at;
        work += WORK_PER_TRY;
        return work > nextLook && lookUp();
    }

    private boolean lookUp() {
        Interrupt.checkCurrent();
        nextLook = work + WORK_PER_LOOK;
        return hasGivenUp();
    }

    private boolean findAround(RequiredLiteral literal, int from) {
        int found = literal.find(address, length, from + literal.least());
        if (found < 0) {
            return false;
        }
        if (!literal.isBounded() || atStart) {
            return findAnywhere(from);
        }
        int next = from;
        while (found >= 0) {
            int last = found - literal.least();
            for (int at = Math.max(next, found - literal.most()); at <= last; at++) {
                if (isOver(at)) {
                    return false;
                }
                if (matchesAt(at)) {
                    return true;
                }
            }
            next = Math.max(next, last + 1);
            found = literal.find(address, length, found + 1);
        }
        return false;
    }

    private boolean findAnywhere(int from) {
        if (atStart) {
            return from == 0 && matchesAt(0);
        }
        if (firstCharacter != null) {
            for (int at = from; at < length; at++) {
                if (matchOne(firstCharacter, at) > 0) {
                    if (isOver(at)) {
                        return false;
                    }
                    if (matchesAt(at)) {
                        return true;
                    }
                }
            }
            return false;
        }
        for (int at = from; at <= length; at++) {
            if (isOver(at)) {
                return false;
            }
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
        return first.matches(this, at);
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
}
