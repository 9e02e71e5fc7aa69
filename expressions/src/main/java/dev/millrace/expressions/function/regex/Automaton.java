package dev.millrace.expressions.function.regex;

import dev.millrace.interrupt.Interrupt;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * The deterministic automaton of a program, built as texts need it: its states are sets of the program's steps. What does
 * not fit the memory set aside for it is forgotten and built again, so that each character costs at most a walk over the
 * program. Belongs to one thread.
 *
 * <p>A search begins a match at every place. To find the leftmost one, its states are not one set but several, from the
 * earliest beginning to the latest; a step that two have belongs to the earlier, and an end drops those that began later.
 */
final class Automaton {
    /** What is asked for. */
    enum Mode {
        /** Matches that begin at one place. */
        ANCHORED,
        /** Whether, or where, any match ends. */
        ANYWHERE,
        /** Where the leftmost match ends if it takes as much as it can. */
        LEFTMOST_LONGEST,
        /** Where the leftmost match ends if it takes as little as it can. */
        LEFTMOST_SHORTEST
    }

    // What lies at one side of a place.
    static final int OTHER = 0;
    static final int WORD = 1;
    static final int NEWLINE = 2;
    static final int EDGE = 3;

    static final int UNKNOWN = -1;
    static final int ACCEPTS = 1; // before the character that is consumed
    static final int COLD = 2; // the next state has nothing under way
    private static final int SHIFT = 2;
    private static final int DEAD = 0;
    private static final int MOST_ENTRIES = 1 << 18;

    private final Program program;
    private final Alphabet alphabet;
    private final Mode mode;
    private final boolean backwards;
    private final int lookBits;
    private final int[] kindOf; // what a class is at the side of a place
    private final int stride;

    private int[] table = new int[0];
    private State[] states = new State[8];
    private int count;
    private final Map<State, Integer> rows = new HashMap<>(); // a state is known by where its row begins in the table
    private final int[] starts = new int[4]; // by what lies behind

    // Scratch of one step.
    private final int[] seen; // the step it was last seen in
    private final int[] taken;
    private final int[] stack;
    private final int[] consuming;
    private int consumingCount;
    private int round;
    private boolean accepted;

    // The characters of ASCII that change nothing when nothing is under way, as bits; known once that was asked.
    private long idleLow;
    private long idleHigh;
    private boolean knowsIdle;

    /** @param searching whether a match may still begin; no longer, once one has ended */
    private record State(int[] steps, int behind, boolean searching) {
        @Override
        public boolean equals(Object other) {
            return other instanceof State state
                    && state.behind == behind
                    && state.searching == searching
                    && Arrays.equals(state.steps, steps);
        }

        @Override
        public int hashCode() {
            return 31 * Arrays.hashCode(steps) + 2 * behind + (searching ? 1 : 0);
        }

        boolean isDead() {
            return steps.length == 0 && !searching;
        }
    }

    /** @param looks how many lookarounds the expression has */
    Automaton(Program program, Alphabet alphabet, Mode mode, boolean backwards, int looks) {
        this.program = program;
        this.alphabet = alphabet;
        this.mode = mode;
        this.backwards = backwards;
        this.lookBits = looks;
        this.stride = alphabet.size() + 1 << looks;
        this.kindOf = new int[alphabet.size() + 1];
        for (int c = 0; c < alphabet.size() && program.seesPlaces(); c++) {
            int sample = alphabet.sample(c);
            kindOf[c] = sample == '\n' ? NEWLINE : CharSet.isWord(sample) ? WORD : OTHER;
        }
        kindOf[alphabet.size()] = program.seesPlaces() ? EDGE : OTHER;
        seen = new int[program.size()];
        taken = new int[program.size()];
        stack = new int[2 * program.size() + 2];
        consuming = new int[2 * program.size() + 2];
        clear();
    }

    private void clear() {
        rows.clear();
        count = 0;
        Arrays.fill(starts, UNKNOWN);
        row(new State(new int[0], OTHER, false)); // DEAD
    }

    /** The number of the column for the edge of a text. */
    int edge() {
        return alphabet.size();
    }

    /**
     * The state before anything is consumed.
     *
     * @param behind the class of the character behind, or {@link #edge}
     */
    int start(int behind) {
        int kind = kindOf[behind];
        if (starts[kind] == UNKNOWN) {
            boolean searching = mode != Mode.ANCHORED;
            starts[kind] = row(new State(searching ? new int[0] : new int[] {program.start()}, kind, searching));
        }
        return starts[kind];
    }

    /** Whether a search may pass over characters that change nothing: where what lies around does not matter. */
    boolean canIdle() {
        return mode != Mode.ANCHORED && lookBits == 0 && !program.seesPlaces();
    }

    /** Whether a character of ASCII changes nothing when nothing is under way. */
    boolean idles(int c) {
        return ((c < 64 ? idleLow : idleHigh) >>> c & 1) != 0;
    }

    /** Finds out which characters change nothing. */
    void learnIdle() {
        if (knowsIdle) {
            return;
        }
        for (int c = 0; c < 128; c++) {
            int cold = start(edge());
            int entry = entry(cold, alphabet.ofAscii(c), 0);
            if ((entry & ACCEPTS) == 0 && target(entry) == cold) {
                idleLow |= c < 64 ? 1L << c : 0;
                idleHigh |= c < 64 ? 0 : 1L << c;
            }
        }
        knowsIdle = true;
    }

    static int target(int entry) {
        return entry >>> SHIFT;
    }

    static boolean isDead(int state) {
        return state == DEAD;
    }

    /** What a class does in a state: the target and its marks. Looks are bits, one for each that holds at the place. */
    int entry(int state, int characterClass, int looks) {
        int column = characterClass << lookBits | looks;
        int entry = table[state + column];
        return entry != UNKNOWN ? entry : build(state, characterClass, looks);
    }

    private int row(State state) {
        Integer known = rows.get(state);
        if (known != null) {
            return known;
        }
        if (count == states.length) {
            states = Arrays.copyOf(states, 2 * count);
        }
        if ((count + 1) * stride > table.length) {
            int before = table.length;
            table = Arrays.copyOf(table, Math.max(2 * before, 4 * stride));
            Arrays.fill(table, before, table.length, UNKNOWN);
        }
        Arrays.fill(table, count * stride, (count + 1) * stride, state.isDead() ? DEAD : UNKNOWN);
        states[count] = state;
        rows.put(state, count * stride);
        return count++ * stride;
    }

    private int build(int from, int characterClass, int looks) {
        Interrupt.checkCurrent();
        State state = states[from / stride];
        int ahead = kindOf[characterClass];
        int[] targets = new int[Math.max(8, state.steps.length + 4)];
        int used = 0;
        round++;
        accepted = false;
        boolean searching = state.searching;
        boolean ended = false;
        int at = 0;
        while (!ended && at < state.steps.length) {
            consumingCount = 0;
            boolean here = false;
            for (; at < state.steps.length && state.steps[at] >= 0; at++) {
                here |= close(state.steps[at], state.behind, ahead, looks);
            }
            at++; // behind the mark between two sets
            ended = here && mode != Mode.ANYWHERE && mode != Mode.ANCHORED;
            accepted |= here;
            if (!here || mode != Mode.LEFTMOST_SHORTEST) {
                targets = room(targets, used + consumingCount + 1);
                used = move(characterClass, targets, used);
            }
        }
        if (ended) {
            searching = false;
        } else if (searching) {
            consumingCount = 0;
            boolean here = close(program.start(), state.behind, ahead, looks);
            accepted |= here;
            boolean isOrdered = mode == Mode.LEFTMOST_LONGEST || mode == Mode.LEFTMOST_SHORTEST;
            if (!here || mode != Mode.LEFTMOST_SHORTEST) {
                targets = room(targets, used + consumingCount + 1);
                used = move(characterClass, targets, used);
            }
            searching = !(here && isOrdered);
        }
        if (characterClass == edge()) {
            used = 0;
            searching = false;
        }
        return noted(from, characterClass << lookBits | looks, target(targets, used, ahead, searching));
    }

    private static int[] room(int[] targets, int size) {
        return size <= targets.length ? targets : Arrays.copyOf(targets, Math.max(size, 2 * targets.length));
    }

    private State target(int[] targets, int used, int ahead, boolean searching) {
        int[] steps;
        if (mode == Mode.ANYWHERE || mode == Mode.ANCHORED) {
            int kept = 0;
            for (int i = 0; i < used; i++) {
                if (targets[i] >= 0) {
                    targets[kept++] = targets[i];
                }
            }
            steps = Arrays.copyOf(targets, kept);
            Arrays.sort(steps);
        } else {
            steps = Arrays.copyOf(targets, used);
        }
        State state = new State(steps, ahead, searching);
        return state.isDead() ? states[DEAD] : state;
    }

    private int noted(int from, int column, State target) {
        boolean marksAccept = accepted;
        Integer known = rows.get(target);
        int entries = (count + 1) * stride;
        boolean full = known == null && entries > MOST_ENTRIES && count > 8;
        if (full) {
            clear();
        }
        int row = known == null ? row(target) : known;
        boolean cold = target.searching && target.steps.length == 0;
        int entry = row << SHIFT | (cold ? COLD : 0) | (marksAccept ? ACCEPTS : 0);
        if (!full) {
            table[from + column] = entry;
        }
        return entry;
    }

    /** Follows all that consumes nothing from a step; returns whether the end is among it. */
    private boolean close(int first, int behind, int ahead, int looks) {
        boolean end = false;
        int depth = 0;
        stack[depth++] = first;
        while (depth > 0) {
            int step = stack[--depth];
            if (seen[step] == round) {
                continue;
            }
            seen[step] = round;
            switch (program.kind(step)) {
                case CONSUME -> consuming[consumingCount++] = step;
                case ACCEPT -> end = true;
                case SPLIT -> {
                    stack[depth++] = program.other(step);
                    stack[depth++] = program.next(step);
                }
                case AT -> {
                    if (holds(program.place(step), backwards ? ahead : behind, backwards ? behind : ahead)) {
                        stack[depth++] = program.next(step);
                    }
                }
                case LOOK -> {
                    if ((looks >>> program.look(step) & 1) != 0) {
                        stack[depth++] = program.next(step);
                    }
                }
            }
        }
        return end;
    }

    /** Adds a set: where the steps that consume a class lead to. */
    private int move(int characterClass, int[] targets, int before) {
        int used = before;
        if (characterClass == edge()) {
            return used;
        }
        for (int i = 0; i < consumingCount; i++) {
            if (program.consumes(consuming[i], characterClass)) {
                int next = program.next(consuming[i]);
                if (taken[next] != round) {
                    taken[next] = round;
                    targets[used++] = next;
                }
            }
        }
        if (used == before) {
            return used;
        }
        Arrays.sort(targets, before, used);
        targets[used++] = -1;
        return used;
    }

    static boolean holds(RegexSyntax.Place place, int before, int after) {
        return switch (place) {
            case TEXT_START -> before == EDGE;
            case TEXT_END -> after == EDGE;
            case LINE_START -> before == EDGE || before == NEWLINE;
            case LINE_END -> after == EDGE || after == NEWLINE;
            case WORD_START -> before != WORD && after == WORD;
            case WORD_END -> before == WORD && after != WORD;
            case WORD_BOUNDARY -> (before == WORD) != (after == WORD);
            case NO_WORD_BOUNDARY -> (before == WORD) == (after == WORD);
        };
    }
}
