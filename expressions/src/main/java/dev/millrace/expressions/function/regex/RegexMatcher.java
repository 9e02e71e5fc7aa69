package dev.millrace.expressions.function.regex;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Finds the matches of an expression in a text, each in time linear in it; belongs to one thread. Places are bytes from the
 * text's start. Expressions with back references alone try one thing after another: within a budget, behind which they
 * fail with 54001. Looks at the thread's {@link dev.millrace.interrupt.Interrupt}.
 */
public final class RegexMatcher {
    private final Regex regex;
    private final int[] marks; // where groups begin and end, that of the whole match unused
    private final @Nullable OneWayMatcher way; // null when the expression has choices
    private final boolean isQuick;
    private final boolean refers;
    private final Machines machines;
    private long address;
    private int length;
    private boolean isMachineReady;
    private int start;
    private int end;
    private boolean knowsGroups;

    public RegexMatcher(Regex regex) {
        this.regex = regex;
        this.marks = new int[2 * regex.groups() + 2];
        this.way = regex.oneWay().map(found -> new OneWayMatcher(found, marks)).orElse(null);
        this.isQuick = way != null && way.isQuick();
        this.refers = regex.tree().refers();
        this.machines = new Machines(regex, marks);
    }

    /** The text to search. */
    public void reset(long newAddress, int newLength) {
        length = newLength;
        if (way != null) {
            way.reset(newAddress, newLength);
        }
        address = newAddress;
        length = newLength;
        isMachineReady = false;
    }

    private Machines machines() {
        if (!isMachineReady) {
            machines.reset(address, length);
            isMachineReady = true;
        }
        return machines;
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
        return group == 0 ? start : end(group) < 0 ? -1 : marks[2 * group];
    }

    /** Where a group of the last match ends; -1 when it took no part. */
    public int end(int group) {
        if (group == 0) {
            return end;
        }
        if (!knowsGroups) {
            Arrays.fill(marks, -1);
            machines().dissect(start, end);
            knowsGroups = true;
        }
        return marks[2 * group + 1];
    }

    /** Whether there is a match anywhere; does not say which. */
    public boolean matches() {
        if (refers) {
            return find(0);
        }
        if (isQuick && way != null) {
            if (way.find(0)) {
                return true;
            }
            if (!way.hasGivenUp()) {
                return false;
            }
        }
        return machines().firstEnd(0) >= 0;
    }

    /** Finds the first match that begins at or after byte {@code from}. */
    public boolean find(int from) {
        int untried = from;
        if (way != null && !way.hasGivenUp()) {
            boolean found = way.find(from);
            if (found || !way.hasGivenUp()) {
                start = way.start();
                end = way.end();
                knowsGroups = true;
                return found;
            }
            untried = way.untried();
        }
        if (refers) {
            return findByTrying(untried);
        }
        end = machines().leftmostEnd(untried);
        if (end >= 0) {
            start = machines().firstStart(untried, end);
            knowsGroups = false;
        }
        return end >= 0;
    }

    /** What the automaton takes for a match may be none, as back references stand for whatever their groups can match. */
    private boolean findByTrying(int from) {
        boolean shortest = regex.tree().isShortest();
        int firstEnd = -1;
        for (int begin = from; begin <= length; begin = machines().after(begin)) {
            if (begin > firstEnd) {
                firstEnd = machines().firstEnd(begin);
                if (firstEnd < 0) {
                    return false;
                }
            }
            int last = shortest ? machines().shortest(begin, begin) : machines().longest(begin, length);
            while (last >= 0) {
                machines().limitSteps();
                Arrays.fill(marks, -1);
                if (machines().dissect(begin, last)) {
                    start = begin;
                    end = last;
                    knowsGroups = true;
                    return true;
                }
                if (last == (shortest ? length : begin)) {
                    break;
                }
                last = shortest
                        ? machines().shortest(begin, last + 1)
                        : machines().longest(begin, last - 1);
            }
        }
        return false;
    }
}
