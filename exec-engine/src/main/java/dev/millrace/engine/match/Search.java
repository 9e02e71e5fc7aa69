package dev.millrace.engine.match;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import java.util.Arrays;

/**
 * Looks for the preferred match that begins at one row of a partition.
 *
 * <pre>
 *            begin(start)
 *                 |
 *   run() ------> +--> MATCHED   variableAt(start .. end - 1) is the match
 *     ^           +--> FAILED    no match begins here
 *     |           +--> WAITING   what is decided next needs rows that are not there yet
 *     +-- append ------+
 * </pre>
 *
 * It follows the first way that the pattern allows and keeps the others on a stack; where a way fails it goes back to the
 * latest choice. So ways are tried in the order of preference, and the first that reaches the end is the match (ISO
 * 19075-5, 4.14). What follows a matched row depends on the automaton's state alone unless conditions look at earlier
 * rows: then a state that failed at a row once is not tried there again, and the work is bounded by states times rows.
 */
final class Search {
    /** How a run ended. */
    enum Outcome {
        MATCHED,
        FAILED,
        WAITING
    }

    /** Marks a mapped row that is not shown. */
    private static final int EXCLUDED = 1 << 30;

    private static final long MOST_RETREATS = 20_000_000;

    // what a word of the stack is, in its top bits; below: an instruction or loop, and a position
    private static final long CHOICE = 0;
    private static final long MAPPED = 1L << 62;
    private static final long LOOP = 2L << 62;

    private final PatternProgram program;
    private final Conditions conditions;
    private final Mapping mapping;
    private final long withinMicros; // -1 for ever
    private final int timeSlot;
    private final boolean remembers;
    private final FailedStates failed = new FailedStates();

    private long[] rows = new long[64];
    private int count;
    private int decided; // rows whose conditions over neighbours are known
    private boolean atPartitionStart; // whether the first row here is the partition's first
    private boolean ended;
    private long watermarkMicros;

    private int start;
    private int position;
    private int instruction;
    private int[] path = new int[64]; // variable of each row from start on, and EXCLUDED
    private long[] stack = new long[128];
    private int depth;
    private final int[] loops;
    private long retreats;
    private int steps;
    private boolean tracking;

    /**
     * @param mapping its own, which tracks the values of conditions
     * @param withinMicros -1 for no bound
     */
    Search(PatternProgram program, Conditions conditions, Mapping mapping, long withinMicros, int timeSlot) {
        this.program = program;
        this.conditions = conditions;
        this.mapping = mapping;
        this.withinMicros = withinMicros;
        this.timeSlot = timeSlot;
        this.remembers = !conditions.dependOnHistory();
        this.loops = new int[program.loops()];
    }

    // ---- the rows --------------------------------------------------------------------------------------------------

    /** Forgets all rows. */
    void reset(boolean newAtPartitionStart) {
        count = 0;
        decided = 0;
        atPartitionStart = newAtPartitionStart;
        failed.clear();
    }

    void append(long row) {
        if (count == rows.length) {
            rows = Arrays.copyOf(rows, 2 * count);
        }
        rows[count++] = row;
    }

    /**
     * Says what else is known of the partition.
     *
     * @param newDecided the rows whose words hold the answers of their conditions
     */
    void know(int newDecided, boolean newEnded, long newWatermarkMicros) {
        decided = newDecided;
        ended = newEnded;
        watermarkMicros = newWatermarkMicros;
    }

    int count() {
        return count;
    }

    long row(int at) {
        return rows[at];
    }

    long[] rows() {
        return rows;
    }

    long time(int at) {
        return Memory.getLong(rows[at] + timeSlot);
    }

    /** Forgets the first rows, none of them of a match under way. */
    void forget(int gone) {
        if (gone == 0) {
            return;
        }
        System.arraycopy(rows, gone, rows, 0, count - gone);
        count -= gone;
        decided -= gone;
        start -= gone;
        position -= gone;
        atPartitionStart = false;
        for (int i = 0; i < depth; i++) {
            stack[i] = stack[i] & 0xffffffff_00000000L | (int) stack[i] - gone & 0xffffffffL;
        }
        for (int i = 0; i < loops.length; i++) {
            loops[i] -= gone;
        }
        mapping.shift(gone);
        failed.clear();
    }

    // ---- the match -------------------------------------------------------------------------------------------------

    /** Begins at a row. */
    void begin(int newStart) {
        start = newStart;
        position = newStart;
        instruction = 0;
        depth = 0;
        retreats = 0;
        Arrays.fill(loops, -1);
        mapping.clear();
        tracking = conditions.dependOnHistory();
        if (withinMicros >= 0) {
            failed.clear();
        }
    }

    int start() {
        return start;
    }

    /** Behind the last row mapped. */
    int end() {
        return position;
    }

    /** The variable a row is mapped to, -1 if it is not of the match. */
    int variableAt(int at) {
        return at < start || at >= position ? -1 : path[at - start] & ~EXCLUDED;
    }

    boolean isExcluded(int at) {
        return (path[at - start] & EXCLUDED) != 0;
    }

    Outcome run() {
        while (true) {
            if ((++steps & 1023) == 0) {
                Interrupt.checkCurrent();
            }
            int at = instruction;
            switch (program.operation(at)) {
                case PatternProgram.VARIABLE -> {
                    Outcome outcome = step(at);
                    if (outcome == Outcome.WAITING || outcome == Outcome.FAILED && !retreat()) {
                        return outcome;
                    }
                }
                case PatternProgram.SPLIT -> {
                    push(CHOICE, program.second(at), position);
                    instruction = program.first(at);
                }
                case PatternProgram.JUMP -> instruction = program.first(at);
                case PatternProgram.ENTER -> {
                    int loop = program.first(at);
                    push(LOOP, loop, loops[loop]);
                    loops[loop] = position;
                    instruction++;
                }
                case PatternProgram.AGAIN -> {
                    boolean matchedRows = loops[program.second(at)] != position;
                    instruction = matchedRows ? program.first(at) : at + 1;
                }
                case PatternProgram.START -> {
                    if (position == 0 && atPartitionStart) {
                        instruction++;
                    } else if (!retreat()) {
                        return Outcome.FAILED;
                    }
                }
                case PatternProgram.END -> {
                    if (position == count && !ended) {
                        return Outcome.WAITING;
                    }
                    if (position == count) {
                        instruction++;
                    } else if (!retreat()) {
                        return Outcome.FAILED;
                    }
                }
                default -> {
                    return Outcome.MATCHED;
                }
            }
        }
    }

    /** Maps a row to a variable if it can be. */
    private Outcome step(int at) {
        int variable = program.first(at);
        if (position == count) {
            return ended || isPast() ? Outcome.FAILED : Outcome.WAITING;
        }
        if (withinMicros >= 0 && position > start && time(position) - time(start) > withinMicros) {
            return Outcome.FAILED;
        }
        if (remembers && failed.contains(state(at, position))) {
            return Outcome.FAILED;
        }
        Outcome outcome = meets(variable);
        if (outcome != Outcome.MATCHED) {
            return outcome;
        }
        push(MAPPED, at, position);
        map(variable, program.second(at) == 1 ? variable | EXCLUDED : variable);
        instruction = at + 1;
        return Outcome.MATCHED;
    }

    /** Whether every row to come is too late for this match. */
    private boolean isPast() {
        return withinMicros >= 0 && position > start && watermarkMicros - time(start) > withinMicros;
    }

    private Outcome meets(int variable) {
        switch (conditions.kind(variable)) {
            case ALWAYS -> {
                return Outcome.MATCHED;
            }
            case NEIGHBOURS -> {
                long word = position < decided ? StoredRows.word(rows[position]) : NeighbourConditions.UNDECIDED;
                if ((word & NeighbourConditions.UNDECIDED) == 0) {
                    return (word >>> variable & 1) != 0 ? Outcome.MATCHED : Outcome.FAILED;
                }
                // others of its conditions may look further ahead than this one
                if (!ended && position + conditions.rowsAhead(variable) >= count) {
                    return Outcome.WAITING;
                }
                if (!tracking) {
                    trackFromHere();
                }
            }
            case HISTORY -> {
                if (!ended && position + conditions.rowsAhead(variable) >= count) {
                    return Outcome.WAITING;
                }
            }
        }
        int before = position;
        map(variable, variable);
        boolean met = conditions.test(variable, this, mapping, before);
        unmapTo(before);
        return met ? Outcome.MATCHED : Outcome.FAILED;
    }

    private void trackFromHere() {
        tracking = true;
        for (int at = start; at < position; at++) {
            mapping.push(at, variableAt(at), rows[at]);
        }
    }

    private void map(int variable, int entry) {
        int length = position - start;
        if (length == path.length) {
            path = Arrays.copyOf(path, 2 * length);
        }
        path[length] = entry;
        if (tracking) {
            mapping.push(position, variable, rows[position]);
        }
        position++;
    }

    private void unmapTo(int at) {
        if (tracking) {
            mapping.truncate(at);
        }
        position = at;
    }

    private void push(long kind, int what, int at) {
        if (depth == stack.length) {
            stack = Arrays.copyOf(stack, 2 * depth);
        }
        stack[depth++] = kind | (long) what << 32 | at & 0xffffffffL;
    }

    /** Goes back to the latest choice and takes the other way; false when there is none. */
    private boolean retreat() {
        if (++retreats > MOST_RETREATS) {
            throw MillraceException.user(
                            SqlState.STATEMENT_TOO_COMPLEX,
                            "the row pattern has too many ways to match: " + MOST_RETREATS + " were tried from one row")
                    .withHint("bound it by WITHIN, or let DEFINE tell the variables apart");
        }
        while (depth > 0) {
            long top = stack[--depth];
            int at = (int) top;
            int what = (int) (top >>> 32) & 0x3fffffff;
            long kind = top & 3L << 62;
            if (kind == LOOP) {
                loops[what] = at;
            } else if (kind == MAPPED) {
                if (remembers) {
                    failed.add(state(what, at));
                }
            } else {
                unmapTo(at);
                instruction = what;
                return true;
            }
        }
        unmapTo(start);
        return false;
    }

    private long state(int at, int row) {
        return (long) row * program.size() + at + 1;
    }

    /** How many rows the match under way has so far. */
    int length() {
        return position - start;
    }
}
