package dev.millrace.expressions.function.regex;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs automata over one text, each character once. Places are bytes from the text's start. Belongs to one thread. */
final class Scanner {
    private static final int BLOCK = 1 << 14; // bytes between two looks at the interrupt
    private static final long MOST_STEPS = 50_000_000; // characters read again, where things are tried
    private static final int MOST_STEPS_PER_BYTE = 1000;

    /** A lookaround and its automaton, which ends wherever it holds, or does not if it is negated. */
    record Look(RegexSyntax.Look syntax, Automaton automaton) {}

    private final Alphabet alphabet;
    private final List<Look> looks; // inner ones before those around them
    private long[][] holding = new long[0][]; // per lookaround a bit for each place
    private long address;
    private int length;
    private long steps;

    Scanner(Alphabet alphabet, List<Look> looks) {
        this.alphabet = alphabet;
        this.looks = looks;
    }

    void reset(long newAddress, int newLength) {
        address = newAddress;
        length = newLength;
        steps = 0;
        if (!looks.isEmpty()) {
            look();
        }
    }

    long address() {
        return address;
    }

    int length() {
        return length;
    }

    /** For expressions with back references, which try: fails with 54001 when too much of this text was read again. */
    void limitSteps() {
        if (++steps > MOST_STEPS + (long) MOST_STEPS_PER_BYTE * length) {
            throw MillraceException.resources(
                            SqlState.STATEMENT_TOO_COMPLEX, "the regular expression takes too many steps on this text")
                    .withHint("Expressions with back references try one division of the text after another; without "
                            + "them the time is linear in the text.");
        }
    }

    /** Finds out where the lookarounds hold: one pass for each. */
    private void look() {
        holding = new long[looks.size()][(length >> 6) + 1];
        for (int i = 0; i < holding.length; i++) {
            Look look = looks.get(i);
            if (look.syntax().behind()) {
                ends(look.automaton(), 0, length, holding[i]);
            } else {
                starts(look.automaton(), 0, length, holding[i]);
            }
            for (int word = 0; look.syntax().negated() && word < holding[i].length; word++) {
                holding[i][word] = ~holding[i][word];
            }
        }
    }

    private int looksAt(int at) {
        int bits = 0;
        for (int i = 0; i < holding.length; i++) {
            bits |= (int) (holding[i][at >> 6] >>> at & 1) << i;
        }
        return bits;
    }

    private int entry(Automaton automaton, int state, int characterClass, int at) {
        return automaton.entry(state, characterClass, holding.length == 0 ? 0 : looksAt(at));
    }

    /** The class of the character before a place, or the edge. */
    private int classBefore(Automaton automaton, int at) {
        return at == 0 ? automaton.edge() : alphabet.at(address, Alphabet.before(address, at, length), length);
    }

    private int classAt(Automaton automaton, int at) {
        return at == length ? automaton.edge() : alphabet.at(address, at, length);
    }

    /** The first place where a match ends that the automaton searches for, or -1. */
    int firstEnd(Automaton automaton, int from, Candidates candidates) {
        return search(automaton, from, candidates, true);
    }

    /** Where the leftmost match ends that the automaton searches for, or -1. */
    int leftmostEnd(Automaton automaton, int from, Candidates candidates) {
        return search(automaton, from, candidates, false);
    }

    private int search(Automaton automaton, int start, Candidates candidates, boolean any) {
        int from = candidates.next(address, length, start);
        if (from < 0) {
            return -1;
        }
        boolean skips = candidates.canSkip();
        boolean idles = !skips && automaton.canIdle();
        if (idles) {
            automaton.learnIdle();
        }
        int state = automaton.start(classBefore(automaton, from));
        int last = -1;
        int at = from;
        while (at < length) {
            if (at > from) {
                Interrupt.checkCurrent();
            }
            int stop = (int) Math.min(length, (long) at + BLOCK);
            while (at < stop) {
                byte first = Memory.getByte(address + at);
                int entry = first >= 0
                        ? entry(automaton, state, alphabet.ofAscii(first), at)
                        : entry(automaton, state, alphabet.at(address, at, length), at);
                state = Automaton.target(entry);
                if ((entry & Automaton.ACCEPTS) != 0) {
                    last = at;
                    if (any) {
                        return at;
                    }
                }
                at += first >= 0 ? 1 : Alphabet.bytes(address, at, length);
                if (Automaton.isDead(state)) {
                    return last;
                }
                if ((entry & Automaton.COLD) == 0) {
                    continue;
                }
                if (idles) {
                    while (at < stop && (first = Memory.getByte(address + at)) >= 0 && automaton.idles(first)) {
                        at++;
                    }
                } else if (skips) {
                    int next = candidates.next(address, length, at);
                    if (next < 0) {
                        return last;
                    }
                    if (next > at) {
                        at = next;
                        state = automaton.start(classBefore(automaton, at));
                    }
                }
            }
        }
        return (entry(automaton, state, automaton.edge(), length) & Automaton.ACCEPTS) != 0 ? length : last;
    }

    /** Where the first match of an anchored automaton begins that reads backwards from its end, not before a place. */
    int firstStart(Automaton automaton, int floor, int end) {
        return backwards(automaton, floor, end, null);
    }

    /** Sets the bit of each place at which a match begins that ends at {@code end}. */
    void starts(Automaton automaton, int floor, int end, long[] bits) {
        backwards(automaton, floor, end, bits);
    }

    private int backwards(Automaton automaton, int floor, int end, long @Nullable [] bits) {
        int state = automaton.start(classAt(automaton, end));
        int first = -1;
        int at = end;
        int read = 0;
        while (at > floor) {
            if ((++read & 4095) == 0) {
                Interrupt.checkCurrent();
            }
            int before = Alphabet.before(address, at, length);
            int entry = entry(automaton, state, alphabet.at(address, before, length), at);
            if ((entry & Automaton.ACCEPTS) != 0) {
                first = at;
                mark(bits, at - floor);
            }
            state = Automaton.target(entry);
            if (Automaton.isDead(state)) {
                steps += read;
                return first;
            }
            at = before;
        }
        steps += read;
        if ((entry(automaton, state, classBefore(automaton, at), at) & Automaton.ACCEPTS) != 0) {
            first = at;
            mark(bits, at - floor);
        }
        return first;
    }

    private static void mark(long @Nullable [] bits, int place) {
        if (bits != null) {
            bits[place >> 6] |= 1L << place;
        }
    }

    /** Sets the bit of each place at which a match ends that begins at {@code from}; the bits count from there. */
    void ends(Automaton automaton, int from, int limit, long[] bits) {
        forwards(automaton, from, from, limit, bits, false);
    }

    /** The last place up to a limit where a match ends that begins at {@code from}, or -1. */
    int longest(Automaton automaton, int from, int limit) {
        return forwards(automaton, from, from, limit, null, false);
    }

    /** The first place from {@code least} to a limit where a match ends that begins at {@code from}, or -1. */
    int shortest(Automaton automaton, int from, int least, int limit) {
        return forwards(automaton, from, least, limit, null, true);
    }

    private int forwards(Automaton automaton, int from, int least, int limit, long @Nullable [] bits, boolean first) {
        int state = automaton.start(classBefore(automaton, from));
        int last = -1;
        int at = from;
        int read = 0;
        while (at < limit) {
            if ((++read & 4095) == 0) {
                Interrupt.checkCurrent();
            }
            int entry = entry(automaton, state, alphabet.at(address, at, length), at);
            if ((entry & Automaton.ACCEPTS) != 0 && at >= least) {
                last = at;
                mark(bits, at - from);
                if (first) {
                    steps += read;
                    return last;
                }
            }
            state = Automaton.target(entry);
            if (Automaton.isDead(state)) {
                steps += read;
                return last;
            }
            at += Alphabet.bytes(address, at, length);
        }
        steps += read;
        if (at <= limit && (entry(automaton, state, classAt(automaton, at), at) & Automaton.ACCEPTS) != 0) {
            last = at;
            mark(bits, at - from);
        }
        return last;
    }

    /** What the place between two characters is like. */
    boolean holds(RegexSyntax.Place place, int at) {
        return Automaton.holds(
                place, at == 0 ? Automaton.EDGE : kind(Alphabet.before(address, at, length)), kindAt(at));
    }

    private int kindAt(int at) {
        return at == length ? Automaton.EDGE : kind(at);
    }

    private int kind(int at) {
        int c = Alphabet.codePoint(address, at, length);
        return c == '\n' ? Automaton.NEWLINE : CharSet.isWord(c) ? Automaton.WORD : Automaton.OTHER;
    }

    boolean lookHolds(int look, int at) {
        return (holding[look][at >> 6] >>> at & 1) != 0;
    }

    int classOf(int at) {
        return alphabet.at(address, at, length);
    }

    int before(int at) {
        return Alphabet.before(address, at, length);
    }

    int after(int at) {
        return at + Alphabet.bytes(address, at, length);
    }

    static long[] cleared(long[] bits, int size) {
        int words = (size >> 6) + 1;
        if (bits.length < words) {
            return new long[Math.max(words, 2 * bits.length)];
        }
        Arrays.fill(bits, 0, words, 0);
        return bits;
    }
}
