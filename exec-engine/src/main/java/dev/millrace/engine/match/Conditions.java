package dev.millrace.engine.match;

import dev.millrace.batch.Closing;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.kernel.CalcKernel;
import dev.millrace.expressions.kernel.RowFailures;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.match.MatchSpec;
import dev.millrace.plan.match.MatchValue;
import dev.millrace.plan.match.MatchValue.Navigation;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/** What the pattern's variables require, each tested in the cheapest way it allows. */
final class Conditions implements AutoCloseable {
    /** How a variable is tested. */
    enum Kind {
        ALWAYS,
        /** By a bit of the row's word. */
        NEIGHBOURS,
        /** One by one, over values of the rows matched so far. */
        HISTORY
    }

    private final Kind[] kinds;
    private final int[] rowsAhead;
    private final NeighbourConditions neighbours;
    private final Predicate[] predicates; // by variable; made when first needed
    private final ValueColumns[] columns; // by variable; made when first needed
    private final MatchSpec spec;
    private final Mapping like;
    private final RowCodec codec;
    private final Clock clock;
    private final BufferAllocator allocator;
    private final int[] selected = new int[1];
    private boolean isClosed;

    /** @param like a mapping that tracks the values of all conditions */
    Conditions(MatchSpec spec, Mapping like, RowCodec codec, int batchRows, Clock clock, BufferAllocator allocator) {
        int variables = spec.variables();
        this.spec = spec;
        this.like = like;
        this.codec = codec;
        this.clock = clock;
        this.allocator = allocator;
        this.kinds = new Kind[variables];
        this.rowsAhead = new int[variables];
        this.predicates = new Predicate[variables];
        this.columns = new ValueColumns[variables];
        Arrays.fill(kinds, Kind.ALWAYS);
        for (int variable = 0; variable < variables; variable++) {
            if (spec.conditions().get(variable).isPresent()) {
                MatchSpec.Condition condition = spec.conditions().get(variable).get();
                boolean always = condition.expression() instanceof Literal literal
                        && literal.value().equals(true);
                kinds[variable] = always
                        ? Kind.ALWAYS
                        : NeighbourConditions.isNeighbourly(spec, variable) ? Kind.NEIGHBOURS : Kind.HISTORY;
                rowsAhead[variable] = ahead(condition.values());
            }
        }
        this.neighbours = new NeighbourConditions(spec, codec, batchRows, clock, allocator);
    }

    /** How many rows behind the one at hand values may ask for. */
    static int ahead(List<MatchValue> values) {
        return values.stream()
                .mapToInt(value -> value instanceof Navigation navigation ? Math.max(0, navigation.shift()) : 0)
                .max()
                .orElse(0);
    }

    /** The values that must be tracked: those of conditions that are tested one by one, sometimes at least. */
    static List<MatchValue> tracked(MatchSpec spec) {
        return spec.conditions().stream()
                .flatMap(condition -> condition.stream().flatMap(some -> some.values().stream()))
                .toList();
    }

    Kind kind(int variable) {
        return kinds[variable];
    }

    int rowsAhead(int variable) {
        return rowsAhead[variable];
    }

    NeighbourConditions neighbours() {
        return neighbours;
    }

    /** Whether some condition depends on what was matched before. */
    boolean dependOnHistory() {
        return Arrays.asList(kinds).contains(Kind.HISTORY);
    }

    /** Tests one variable, to which the search has mapped its last row for now. */
    boolean test(int variable, Search search, Mapping mapping, int position) {
        if (columns[variable] == null) {
            MatchSpec.Condition condition = spec.conditions().get(variable).get();
            columns[variable] = new ValueColumns(spec, condition.values(), like, codec, 1, allocator);
            predicates[variable] = new Predicate(columns[variable].schema(), condition.expression(), clock, allocator);
        }
        try {
            return predicates[variable].select(columns[variable].single(search, mapping, position), selected) == 1;
        } catch (CalcKernel.RowFailure failure) {
            String name = spec.symbols().get(variable).name();
            throw failure.failure() instanceof MillraceException told && RowFailures.isOfData(told)
                    ? told.in("condition of " + name)
                    : failure.failure();
        }
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        List<AutoCloseable> all = new ArrayList<>();
        for (int variable = 0; variable < columns.length; variable++) {
            if (columns[variable] != null) {
                all.add(columns[variable]);
                all.add(predicates[variable]);
            }
        }
        all.add(neighbours);
        Closing.all(all);
    }
}
