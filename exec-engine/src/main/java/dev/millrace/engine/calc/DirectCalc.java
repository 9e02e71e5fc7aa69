package dev.millrace.engine.calc;

import dev.millrace.batch.Batch;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.operator.Output;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.time.Clock;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Filters and projects one batch on the thread that asks: for few rows the tasks of a query cost more than the computation.
 * Safe on any thread.
 */
public final class DirectCalc {
    private DirectCalc() {}

    /** Whether a plan does no more than filter and project the rows of a relation. */
    public static boolean suits(PlanNode plan, String relation) {
        return plan instanceof PlanNode.Calc calc
                ? suits(calc.input(), relation)
                : plan instanceof PlanNode.Scan scan && scan.relation().equals(relation);
    }

    /**
     * What a plan that {@linkplain #suits suits} gives for rows in the place of its relation's.
     *
     * @param rows of the relation; they stay the caller's
     * @return rows that the caller owns, which may share memory with those; empty for none
     * @throws dev.millrace.error.MillraceException what computing a row throws, such as a division by zero
     */
    public static Optional<Batch> compute(PlanNode plan, Batch rows, BufferAllocator allocator, Clock clock) {
        if (plan instanceof PlanNode.Scan scan) {
            return rows.rowCount() == 0 ? Optional.empty() : Optional.of(scanned(scan, rows));
        }
        PlanNode.Calc calc = (PlanNode.Calc) plan;
        Last last = new Last();
        try (CalcOperator operator = new CalcOperator(calc)) {
            operator.open(new Context(allocator, clock));
            compute(calc.input(), rows, allocator, clock).ifPresent(input -> operator.process(0, input, last));
        }
        return last.batch;
    }

    private static Batch scanned(PlanNode.Scan scan, Batch rows) {
        FieldVector[] columns = scan.columns().stream().map(rows::column).toArray(FieldVector[]::new);
        return Batch.view(scan.schema(), columns, rows.rowCount(), rows.weights(), List.of(rows.retain()));
    }

    /** A Calc of one batch after the other, on any thread but one at a time; compiled once. */
    public static final class Kept implements AutoCloseable {
        private final CalcOperator operator;
        private final Last last = new Last();

        public Kept(PlanNode.Calc calc, BufferAllocator allocator, Clock clock) {
            this.operator = new CalcOperator(calc);
            try {
                operator.open(new Context(allocator, clock));
            } catch (RuntimeException | Error e) {
                operator.close();
                throw e;
            }
        }

        /**
         * What a projection without a condition gives for rows of its input, which stay the caller's, as does the result; at
         * least one row.
         *
         * @throws dev.millrace.error.MillraceException what computing a row throws, such as a division by zero
         */
        public Batch compute(Batch rows) {
            return filter(rows).orElseThrow();
        }

        /** The same with a condition, which may leave no row. */
        public Optional<Batch> filter(Batch rows) {
            operator.process(0, rows.retain(), last);
            Optional<Batch> computed = last.batch;
            last.batch = Optional.empty();
            return computed;
        }

        @Override
        public void close() {
            operator.close();
        }
    }

    /** A plan of one Calc over a relation, of one batch of its rows after the other, on any thread but one at a time; compiled once. */
    public static final class KeptPlan implements AutoCloseable {
        private final PlanNode.Scan scan;
        private final Kept calc;

        private KeptPlan(PlanNode.Scan scan, Kept calc) {
            this.scan = scan;
            this.calc = calc;
        }

        /** Empty for a plan that is no such. */
        public static Optional<KeptPlan> of(PlanNode plan, BufferAllocator allocator, Clock clock) {
            return plan instanceof PlanNode.Calc calc && calc.input() instanceof PlanNode.Scan scan
                    ? Optional.of(new KeptPlan(scan, new Kept(calc, allocator, clock)))
                    : Optional.empty();
        }

        /** What {@link DirectCalc#compute} gives. */
        public Optional<Batch> compute(Batch rows) {
            if (rows.rowCount() == 0) {
                return Optional.empty();
            }
            try (Batch scanned = scanned(scan, rows)) {
                return calc.filter(scanned);
            }
        }

        @Override
        public void close() {
            calc.close();
        }
    }

    /** A Calc emits once per batch at most. */
    private static final class Last implements Output {
        private Optional<Batch> batch = Optional.empty();

        @Override
        public void emit(Batch emitted) {
            assert batch.isEmpty();
            batch = Optional.of(emitted);
        }

        @Override
        public boolean isFull() {
            return false;
        }
    }

    private record Context(BufferAllocator allocator, Clock clock) implements OperatorContext {
        @Override
        public KeyGroups keyGroups() {
            return KeyGroups.ALL;
        }

        @Override
        public int batchRows() {
            return Integer.MAX_VALUE;
        }

        @Override
        public OperatorMetrics metrics() {
            return new OperatorMetrics();
        }

        @Override
        public void lateRows(Batch batch, int[] rows, int count, long watermarkMicros) {
            throw new AssertionError("without a watermark no row is late");
        }
    }
}
