package dev.millrace.expressions.function.regex;

import dev.millrace.interrupt.Interrupt;
import java.util.function.Function;

/**
 * Finds out what the groups of a match are: divides it among the parts of the expression, from the outermost to the
 * innermost, each dividing in two passes over its piece. Only parts with back references try one division after another,
 * within a budget. Belongs to one thread.
 */
final class Dissection {
    private final Scanner scanner;
    private final Function<RegexPart, PartAutomata> automata;
    private final int[] marks; // where groups begin and end
    private final boolean ignoreCase;
    private long spent;
    private long[] ends = new long[4];
    private long[] starts = new long[4];

    Dissection(Scanner scanner, Function<RegexPart, PartAutomata> automata, int[] marks, boolean ignoreCase) {
        this.scanner = scanner;
        this.automata = automata;
        this.marks = marks;
        this.ignoreCase = ignoreCase;
    }

    /** Sets the marks of all groups of a piece that the part matches; false when back references refuse it. */
    boolean dissect(RegexPart part, int begin, int end) {
        boolean matched = switch (part.kind) {
            case PLAIN -> true;
            case GROUP -> dissect(part.parts.get(0), begin, end);
            case SEQUENCE -> part.refers() ? searchSequence(part, begin, end) : sequence(part, begin, end);
            case ALTERNATIVES -> alternatives(part, begin, end);
            case ITERATION -> part.refers() ? new IterationSearch(part, begin, end).run() : iteration(part, begin, end);
            case BACK_REFERENCE -> reference(part, begin, end);
        };
        if (matched && part.group > 0) {
            marks[2 * part.group] = begin;
            marks[2 * part.group + 1] = end;
        }
        return matched;
    }

    private void forget(RegexPart part) {
        if (part.group > 0) {
            marks[2 * part.group] = -1;
            marks[2 * part.group + 1] = -1;
        }
        part.parts.forEach(this::forget);
    }

    private PartAutomata of(RegexPart part) {
        return automata.apply(part);
    }

    private boolean sequence(RegexPart part, int begin, int end) {
        RegexPart first = part.parts.get(0);
        RegexPart second = part.parts.get(1);
        int middle;
        if (of(first).width() >= 0) {
            middle = begin + of(first).width();
        } else if (of(second).width() >= 0) {
            middle = end - of(second).width();
        } else {
            ends = Scanner.cleared(ends, end - begin);
            starts = Scanner.cleared(starts, end - begin);
            scanner.ends(of(first).forwards(), begin, end, ends);
            scanner.starts(of(second).backwards(), begin, end, starts);
            middle = begin + (first.isShortest() ? firstCommon(end - begin) : lastCommon(end - begin));
        }
        if (first.isDivided() || first.group > 0) {
            dissect(first, begin, middle);
        }
        return dissect(second, middle, end);
    }

    private int firstCommon(int size) {
        for (int word = 0; word <= size >> 6; word++) {
            long common = ends[word] & starts[word];
            if (common != 0) {
                return (word << 6) + Long.numberOfTrailingZeros(common);
            }
        }
        throw new IllegalStateException("a match of a sequence is none of its parts");
    }

    private int lastCommon(int size) {
        for (int word = size >> 6; word >= 0; word--) {
            long common = ends[word] & starts[word];
            if (common != 0) {
                return (word << 6) + 63 - Long.numberOfLeadingZeros(common);
            }
        }
        throw new IllegalStateException("a match of a sequence is none of its parts");
    }

    private boolean alternatives(RegexPart part, int begin, int end) {
        for (RegexPart branch : part.parts) {
            if (matches(branch, begin, end)) {
                if (dissect(branch, begin, end)) {
                    return true;
                }
                forget(branch);
            }
        }
        return false;
    }

    private boolean matches(RegexPart part, int begin, int end) {
        return scanner.longest(of(part).forwards(), begin, end) == end;
    }

    /** Only the last iteration has groups that are asked for. */
    private boolean iteration(RegexPart part, int begin, int end) {
        RegexPart body = part.parts.get(0);
        if (begin == end) {
            return body.isShortest() || !matches(body, begin, end) || dissect(body, begin, end);
        }
        int last = part.most == 1 ? begin : new LastIteration(scanner, of(body).program(), part, begin, end).start();
        return dissect(body, last, end);
    }

    // ---- with back references --------------------------------------------------------------------------------------

    private void spend() {
        if ((++spent & 255) == 0) {
            Interrupt.checkCurrent();
        }
        scanner.limitSteps();
    }

    private boolean searchSequence(RegexPart part, int begin, int end) {
        RegexPart first = part.parts.get(0);
        RegexPart second = part.parts.get(1);
        boolean shortest = first.isShortest();
        Automaton forwards = of(first).forwards();
        if (of(first).width() >= 0 || of(second).width() >= 0) {
            int only = of(first).width() >= 0
                    ? begin + of(first).width()
                    : end - of(second).width();
            spend();
            return only >= begin
                    && only <= end
                    && matches(first, begin, only)
                    && matches(second, only, end)
                    && dissect(first, begin, only)
                    && dissect(second, only, end);
        }
        int middle = shortest ? scanner.shortest(forwards, begin, begin, end) : scanner.longest(forwards, begin, end);
        while (middle >= 0) {
            spend();
            if (matches(second, middle, end) && dissect(first, begin, middle) && dissect(second, middle, end)) {
                return true;
            }
            if (middle == (shortest ? end : begin)) {
                return false;
            }
            middle = shortest
                    ? scanner.shortest(forwards, begin, middle + 1, end)
                    : scanner.longest(forwards, begin, middle - 1);
            forget(part);
        }
        return false;
    }

    /** Tries all ways to divide a piece into iterations. */
    private final class IterationSearch {
        private static final int MOST_ITERATIONS = 500; // each is a call within the last

        private final RegexPart body;
        private final Automaton forwards;
        private final int begin;
        private final int end;
        private final int least;
        private final int most;

        IterationSearch(RegexPart part, int begin, int end) {
            this.body = part.parts.get(0);
            this.forwards = of(body).forwards();
            this.end = end;
            this.least = part.least;
            this.most = part.most;
            this.begin = begin;
        }

        boolean run() {
            if (begin == end && least == 0) {
                if (body.isShortest() || !matches(body, end, end) || !dissect(body, end, end)) {
                    forget(body);
                }
                return true;
            }
            return from(1, begin);
        }

        /** Whether iterations from the k-th on divide what lies behind a place. */
        private boolean from(int k, int begin) {
            boolean shortest = body.isShortest();
            boolean needsNothing = k < least && least - k >= end - begin; // iterations over nothing, to have enough
            int first = needsNothing || begin == end ? begin : begin + 1;
            int place = shortest
                    ? scanner.shortest(forwards, begin, k >= most ? end : first, end)
                    : scanner.longest(forwards, begin, end);
            while (place >= first) {
                spend();
                if (isAllowed(k, begin, place) && isWhole(k, begin, place)) {
                    return true;
                }
                if (place == (shortest ? end : begin)) {
                    return false;
                }
                place = shortest
                        ? scanner.shortest(forwards, begin, place + 1, end)
                        : scanner.longest(forwards, begin, place - 1);
            }
            return false;
        }

        private boolean isAllowed(int k, int begin, int place) {
            if (place == end) {
                return k >= least;
            }
            return k < most && k < MOST_ITERATIONS && (place > begin || k < least && least - k >= end - place);
        }

        private boolean isWhole(int k, int begin, int place) {
            forget(body); // only what the last iteration matched counts
            return dissect(body, begin, place) && (place == end || from(k + 1, place));
        }
    }

    private boolean reference(RegexPart part, int begin, int end) {
        int from = marks[2 * part.referred];
        int to = marks[2 * part.referred + 1];
        if (from < 0) {
            return false;
        }
        if (from == to || begin == end) {
            return begin == end && (from == to || part.least == 0);
        }
        int at = begin;
        int count = 0;
        while (at < end) {
            for (int other = from; other < to; other = scanner.after(other)) {
                if (at >= end || !isSame(other, at)) {
                    return false;
                }
                at = scanner.after(at);
            }
            count++;
        }
        return count >= part.least && count <= part.most;
    }

    private boolean isSame(int a, int b) {
        int first = Alphabet.codePoint(scanner.address(), a, scanner.length());
        int second = Alphabet.codePoint(scanner.address(), b, scanner.length());
        return first == second || ignoreCase && Character.toLowerCase(first) == Character.toLowerCase(second);
    }
}
