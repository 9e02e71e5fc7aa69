package dev.millrace.engine.match;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.expressions.kernel.CalcKernel;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.match.MatchSpec;
import dev.millrace.plan.match.MatchValue;
import dev.millrace.plan.match.MatchValue.Content;
import dev.millrace.plan.match.MatchValue.Navigation;
import dev.millrace.time.Clock;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Conditions that look at nothing but the row at hand and rows at fixed distances from it, as {@code price < PREV(price)}:
 * they do not depend on what was matched before, and are computed for many rows of many partitions at once. The answers
 * go into the rows' words: bit v says that the row meets the condition of variable v.
 */
final class NeighbourConditions implements AutoCloseable {
    /** Set in the word of a row whose conditions failed to compute: they are computed one by one if asked for. */
    static final long UNDECIDED = 1L << 62;

    private static final int MOST_VARIABLES = 60;

    private final List<Integer> variables = new ArrayList<>();
    private final List<Predicate> predicates = new ArrayList<>();
    private final List<Navigation> taken = new ArrayList<>(); // distinct values of all conditions
    private final int[] shifts; // distinct ones
    private final int[] shiftOf; // by value
    private final Schema schema;
    private final RowCodec codec;
    private final BufferAllocator allocator;
    private final StateMemory memory;
    private final long nulls; // a row of NULLs
    private final long[] targets;
    private final long[][] addresses; // by shift
    private final int[] selected;
    private int count;

    NeighbourConditions(MatchSpec spec, RowCodec codec, int capacity, Clock clock, BufferAllocator allocator) {
        this.codec = codec;
        this.allocator = allocator;
        this.memory = new StateMemory(allocator);
        this.nulls = memory.allocate(codec.fixedBytes());
        codec.writeNulls(nulls);
        List<Expression> expressions = new ArrayList<>();
        for (int variable = 0; variable < spec.variables(); variable++) {
            if (isNeighbourly(spec, variable)) {
                MatchSpec.Condition condition = spec.conditions().get(variable).get();
                variables.add(variable);
                expressions.add(renumbered(condition));
            }
        }
        this.schema = ValueColumns.schema(List.copyOf(taken));
        for (Expression expression : expressions) {
            predicates.add(new Predicate(schema, expression, clock, allocator));
        }
        this.shifts = taken.stream().mapToInt(Navigation::shift).distinct().toArray();
        this.shiftOf =
                taken.stream().mapToInt(value -> indexOf(shifts, value.shift())).toArray();
        this.targets = new long[capacity];
        this.addresses = new long[shifts.length][capacity];
        this.selected = new int[capacity];
    }

    private static int indexOf(int[] all, int wanted) {
        int at = 0;
        while (all[at] != wanted) {
            at++;
        }
        return at;
    }

    /** The condition over the values of all. */
    private Expression renumbered(MatchSpec.Condition condition) {
        int[] places = new int[condition.values().size()];
        for (int i = 0; i < places.length; i++) {
            Navigation value = (Navigation) condition.values().get(i);
            Navigation plain = new Navigation(0, true, 0, value.shift(), false, value.content());
            if (!taken.contains(plain)) {
                taken.add(plain);
            }
            places[i] = taken.indexOf(plain);
        }
        return Renumbering.of(condition.expression(), places);
    }

    /** Whether a variable has a condition and it is of this kind. */
    static boolean isNeighbourly(MatchSpec spec, int variable) {
        Optional<MatchSpec.Condition> condition = spec.conditions().get(variable);
        return variable < MOST_VARIABLES
                && condition.isPresent()
                && condition.get().values().stream().allMatch(value -> isNeighbour(spec, variable, value));
    }

    /** The last row of a symbol that holds the variable is the row at hand, being mapped to it for the test. */
    private static boolean isNeighbour(MatchSpec spec, int variable, MatchValue value) {
        return value instanceof Navigation navigation
                && navigation.last()
                && navigation.steps() == 0
                && !navigation.whole()
                && !(navigation.content() instanceof Content.Classifier)
                && spec.symbols().get(navigation.symbol()).variables().contains(variable);
    }

    boolean isEmpty() {
        return variables.isEmpty();
    }

    /** How many rows behind a row are needed for its conditions. */
    int rowsAhead() {
        int most = 0;
        for (int shift : shifts) {
            most = Math.max(most, shift);
        }
        return most;
    }

    /** Takes a row up; its word is written when there are enough of them, or by {@link #flush}. */
    void add(long[] rows, int rowCount, int position) {
        if (count == targets.length) {
            flush();
        }
        targets[count] = rows[position];
        for (int shift = 0; shift < shifts.length; shift++) {
            int at = position + shifts[shift];
            addresses[shift][count] = at >= 0 && at < rowCount ? rows[at] : nulls;
        }
        count++;
    }

    void flush() {
        if (count == 0) {
            return;
        }
        for (int i = 0; i < count; i++) {
            StoredRows.setWord(targets[i], 0);
        }
        try (Batch batch = gathered()) {
            for (int i = 0; i < predicates.size(); i++) {
                int passed = predicates.get(i).select(batch, selected);
                long bit = 1L << variables.get(i);
                for (int k = 0; k < passed; k++) {
                    long row = targets[selected[k]];
                    StoredRows.setWord(row, StoredRows.word(row) | bit);
                }
            }
        } catch (CalcKernel.RowFailure failure) {
            for (int i = 0; i < count; i++) {
                StoredRows.setWord(targets[i], UNDECIDED);
            }
        }
        count = 0;
    }

    private Batch gathered() {
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (int i = 0; i < taken.size(); i++) {
                long[] rows = addresses[shiftOf[i]];
                Field field = schema.field(i);
                vectors.add(
                        taken.get(i).content() instanceof Content.Column column
                                ? codec.decode(column.column(), field, rows, count, allocator)
                                : existence(field, rows));
            }
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
        return Batch.of(schema, vectors.toArray(FieldVector[]::new), count);
    }

    private FieldVector existence(Field field, long[] rows) {
        FieldVector vector = Vectors.allocate(field, count, 0, allocator);
        for (int i = 0; i < count; i++) {
            if (rows[i] != nulls) {
                Memory.setBit(vector.getDataBufferAddress(), i);
            } else {
                Memory.clearBit(vector.getDataBufferAddress(), i);
            }
        }
        Vectors.setAllValid(vector, count);
        Vectors.finish(vector, count);
        return vector;
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(predicates);
        all.add(memory);
        count = 0;
        Closing.all(all);
    }
}
