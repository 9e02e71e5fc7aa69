package dev.millrace.engine.match;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.match.RowPattern;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;

/**
 * A pattern as instructions of an automaton. Of two ways the first is preferred.
 *
 * <pre>
 *   VARIABLE v, excluded   one row that meets the condition of v
 *   SPLIT a, b             at a, or else at b
 *   JUMP a
 *   ENTER loop             remembers where a repetition's body begins
 *   AGAIN a, loop          at a if the body matched a row, else on
 *   START  END             at the partition's ends only
 *   ACCEPT
 *
 *   X*     l: SPLIT(body, exit)  body: ENTER X AGAIN(l)  exit:        X*? prefers the exit
 *   X|Y    SPLIT(x, y)  x: X JUMP(end)  y: Y  end:
 * </pre>
 */
final class PatternProgram {
    static final int VARIABLE = 0;
    static final int SPLIT = 1;
    static final int JUMP = 2;
    static final int ENTER = 3;
    static final int AGAIN = 4;
    static final int START = 5;
    static final int END = 6;
    static final int ACCEPT = 7;

    private static final int MOST_INSTRUCTIONS = 200_000;

    private int[] operations = new int[32];
    private int[] first = new int[32];
    private int[] second = new int[32];
    private int size;
    private int loops;

    private PatternProgram() {}

    static PatternProgram of(RowPattern pattern) {
        PatternProgram program = new PatternProgram();
        program.add(pattern, 0);
        program.emit(ACCEPT, 0, 0);
        return program;
    }

    int operation(int at) {
        return operations[at];
    }

    int first(int at) {
        return first[at];
    }

    int second(int at) {
        return second[at];
    }

    int size() {
        return size;
    }

    /** How many loops remember a place. */
    int loops() {
        return loops;
    }

    private int emit(int operation, int a, int b) {
        if (size == MOST_INSTRUCTIONS) {
            throw MillraceException.user(
                            SqlState.STATEMENT_TOO_COMPLEX,
                            "the row pattern is too large: it has more than " + MOST_INSTRUCTIONS + " steps")
                    .withHint("use smaller numbers in braces, or fewer variables in PERMUTE");
        }
        if (size == operations.length) {
            operations = Arrays.copyOf(operations, 2 * size);
            first = Arrays.copyOf(first, 2 * size);
            second = Arrays.copyOf(second, 2 * size);
        }
        operations[size] = operation;
        first[size] = a;
        second[size] = b;
        return size++;
    }

    /** @param excluded 1 within an exclusion, else 0 */
    private void add(RowPattern pattern, int excluded) {
        if (pattern instanceof RowPattern.Variable variable) {
            emit(VARIABLE, variable.variable(), excluded);
        } else if (pattern instanceof RowPattern.Concatenation all) {
            all.parts().forEach(part -> add(part, excluded));
        } else if (pattern instanceof RowPattern.Alternation any) {
            alternatives(any.choices(), excluded);
        } else if (pattern instanceof RowPattern.Permutation permuted) {
            permute(permuted.parts(), excluded);
        } else if (pattern instanceof RowPattern.Exclusion exclusion) {
            add(exclusion.body(), 1);
        } else if (pattern instanceof RowPattern.Repetition repeated) {
            repeat(repeated, excluded);
        } else {
            emit(pattern instanceof RowPattern.PartitionStart ? START : END, 0, 0);
        }
    }

    private void alternatives(List<RowPattern> choices, int excluded) {
        List<Integer> ends = new ArrayList<>();
        for (int i = 0; i + 1 < choices.size(); i++) {
            int split = emit(SPLIT, size + 1, 0);
            add(choices.get(i), excluded);
            ends.add(emit(JUMP, 0, 0));
            second[split] = size;
        }
        add(choices.get(choices.size() - 1), excluded);
        ends.forEach(jump -> first[jump] = size);
    }

    /** All orders of these, as a dictionary would list them; what they begin with is shared. */
    private void permute(List<RowPattern> left, int excluded) {
        if (left.isEmpty()) {
            return;
        }
        List<Integer> ends = new ArrayList<>();
        for (int i = 0; i < left.size(); i++) {
            boolean last = i + 1 == left.size();
            int split = last ? -1 : emit(SPLIT, size + 1, 0);
            add(left.get(i), excluded);
            List<RowPattern> rest = new ArrayList<>(left);
            rest.remove(i);
            permute(rest, excluded);
            if (!last) {
                ends.add(emit(JUMP, 0, 0));
                second[split] = size;
            }
        }
        ends.forEach(jump -> first[jump] = size);
    }

    private void repeat(RowPattern.Repetition repeated, int excluded) {
        for (int i = 0; i < repeated.least(); i++) {
            add(repeated.body(), excluded);
        }
        OptionalInt most = repeated.most();
        if (most.isEmpty()) {
            int split = emit(SPLIT, 0, 0);
            int body = size;
            if (mayBeEmpty(repeated.body())) {
                int loop = loops++;
                emit(ENTER, loop, 0);
                add(repeated.body(), excluded);
                emit(AGAIN, split, loop);
            } else {
                add(repeated.body(), excluded);
                emit(JUMP, split, 0);
            }
            choose(split, body, size, repeated.greedy());
            return;
        }
        List<Integer> splits = new ArrayList<>();
        for (int i = repeated.least(); i < most.getAsInt(); i++) {
            splits.add(emit(SPLIT, 0, 0));
            add(repeated.body(), excluded);
        }
        splits.forEach(split -> choose(split, split + 1, size, repeated.greedy()));
    }

    private void choose(int split, int body, int exit, boolean greedy) {
        first[split] = greedy ? body : exit;
        second[split] = greedy ? exit : body;
    }

    private static boolean mayBeEmpty(RowPattern pattern) {
        if (pattern instanceof RowPattern.Concatenation all) {
            return all.parts().stream().allMatch(PatternProgram::mayBeEmpty);
        } else if (pattern instanceof RowPattern.Alternation any) {
            return any.choices().stream().anyMatch(PatternProgram::mayBeEmpty);
        } else if (pattern instanceof RowPattern.Permutation permuted) {
            return permuted.parts().stream().allMatch(PatternProgram::mayBeEmpty);
        } else if (pattern instanceof RowPattern.Exclusion exclusion) {
            return mayBeEmpty(exclusion.body());
        } else if (pattern instanceof RowPattern.Repetition repeated) {
            return repeated.least() == 0 || mayBeEmpty(repeated.body());
        }
        return !(pattern instanceof RowPattern.Variable);
    }
}
