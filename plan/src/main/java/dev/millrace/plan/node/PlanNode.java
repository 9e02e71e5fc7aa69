package dev.millrace.plan.node;

import dev.millrace.condense.Condensation;
import dev.millrace.condense.ErrorColumns;
import dev.millrace.connector.ColumnPredicate;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.plan.match.MatchSpec;
import dev.millrace.plan.match.MatchValue;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * One operator of a physical plan. The column order of each output is given on the record.
 *
 * <p>Long because all kinds of nodes stand in one sealed interface, so that who reads or rewrites plans sees on one page which there are.
 */
public sealed interface PlanNode {
    Schema schema();

    List<PlanNode> inputs();

    /** An operator of one input. */
    sealed interface Unary extends PlanNode {
        PlanNode input();

        @Override
        default List<PlanNode> inputs() {
            return List.of(input());
        }
    }

    /** An operator whose output has the columns of its input. */
    sealed interface SameColumns extends Unary {
        @Override
        default Schema schema() {
            return input().schema();
        }
    }

    /**
     * Reads a relation: {@code columns} of it, or {@link ErrorColumns} of one that gives them, in that order. {@code predicates} (over the relation's own columns) are
     * a hint that lets a reader skip rows; the plan filters again. With {@code condensation} (whose column is one of the relation, too) rows
     * that are alike may come as one with their number as weight.
     */
    record Scan(
            String relation,
            List<Integer> columns,
            List<ColumnPredicate> predicates,
            Optional<Condensation> condensation,
            Schema schema)
            implements PlanNode {
        /** One of each row. */
        public Scan(String relation, List<Integer> columns, List<ColumnPredicate> predicates, Schema schema) {
            this(relation, columns, predicates, Optional.empty(), schema);
        }

        public Scan {
            columns = List.copyOf(columns);
            predicates = List.copyOf(predicates);
        }

        /** Whether a relation of this schema has values of the same form in these columns: not if it is another by now. */
        public boolean fits(Schema relation) {
            for (int i = 0; i < columns.size(); i++) {
                if (columns.get(i) >= 2 * relation.size()) {
                    return false;
                }
                DataType is = ErrorColumns.field(relation, columns.get(i)).type();
                DataType was = schema.type(i);
                boolean same =
                        is.isNested() || was.kind() == DataType.Kind.NUMERIC ? is.equals(was) : is.kind() == was.kind();
                if (!same) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public List<PlanNode> inputs() {
            return List.of();
        }
    }

    /** Constant rows: each expression is a literal or NULL. */
    record Values(List<List<Expression>> rows, Schema schema) implements PlanNode {
        public Values {
            rows = rows.stream().map(List::copyOf).toList();
        }

        @Override
        public int hashCode() {
            return PlanHash.of(this, PlanHash.ofRows(rows));
        }

        @Override
        public List<PlanNode> inputs() {
            return List.of();
        }
    }

    /**
     * Assigns watermarks: after a batch, the greatest {@code timeColumn} seen minus {@code delayMicros}. A row one of
     * whose windows under {@code lateBeyond} ended at or before the watermark <em>of the rows before it</em> is late:
     * it is counted, recorded and dropped, so lateness depends on the order of rows and not on batches. A row without a
     * time (NULL) is late too. {@code idleTimeoutMicros} zero means never idle, {@link #FOLLOWS_CLOCK} that the times are
     * the machine's own: then windows close by the clock, without a row that comes after them. {@code byEpoch}: of a table,
     * whose rows have no order within an epoch; its watermark goes on at the ends of epochs, by which rows are late.
     */
    record Watermark(
            PlanNode input,
            int timeColumn,
            long delayMicros,
            long idleTimeoutMicros,
            Optional<WindowSpec> lateBeyond,
            boolean byEpoch)
            implements SameColumns {
        public static final long FOLLOWS_CLOCK = -1;

        /** Of rows that come in an order. */
        public Watermark(
                PlanNode input,
                int timeColumn,
                long delayMicros,
                long idleTimeoutMicros,
                Optional<WindowSpec> lateBeyond) {
            this(input, timeColumn, delayMicros, idleTimeoutMicros, lateBeyond, false);
        }
    }

    /**
     * The changes of a table by primary key as versions of its rows, of which none is ever taken back: a row is a version
     * from its {@code timeColumn} on, and an update in place of it is one more. Of several versions of a key with one time
     * the one that came last counts. A row that is deleted, and has no successor in its epoch, ends at the greatest
     * time that any row before had, its own among them. An epoch's versions come in the order of their times.
     *
     * <p>Output: input columns, then the number of the change (BIGINT, ascending as they came); negative where a row ends,
     * which has the row's columns, but the end as its time.
     */
    record Versions(PlanNode input, List<Integer> key, int timeColumn, Schema schema) implements Unary {
        public Versions {
            key = List.copyOf(key);
        }
    }

    /** Keeps the rows where {@code condition} is true and computes {@code projections} over them. Linear in weights. */
    record Calc(PlanNode input, Optional<Expression> condition, List<Expression> projections, Schema schema)
            implements Unary {
        public Calc {
            projections = List.copyOf(projections);
        }

        @Override
        public int hashCode() {
            return PlanHash.of(
                    this,
                    31 * PlanHash.of(projections)
                            + PlanHash.of(condition.stream().toList()));
        }
    }

    /** Repeats each row once per window it falls into. Output: input columns, window_start, window_end. No sessions. */
    record WindowAssign(PlanNode input, int timeColumn, WindowSpec window, Schema schema) implements Unary {}

    /** Part of a two-phase aggregation. PARTIAL emits states as columns, FINAL merges them. */
    enum Phase {
        SINGLE,
        PARTIAL,
        FINAL
    }

    /**
     * Groups by columns and aggregates, emitting at each epoch's end the changes of the groups touched: the old row
     * with weight -1, the new one with +1. No calls is DISTINCT. With no keys there is always one group, also over no
     * rows. Output: keys, then calls.
     *
     * @param appendOnlyInput promises that no input weight is negative, which allows smaller states
     * @param forgetting which groups go though nobody took them back
     */
    record Aggregate(
            PlanNode input,
            List<Integer> keys,
            List<AggregateCall> calls,
            Phase phase,
            boolean appendOnlyInput,
            Optional<Forgetting> forgetting,
            Schema schema)
            implements Unary {
        public Aggregate {
            keys = List.copyOf(keys);
            calls = List.copyOf(calls);
        }

        /** An aggregation that forgets nothing. */
        public Aggregate(
                PlanNode input,
                List<Integer> keys,
                List<AggregateCall> calls,
                Phase phase,
                boolean appendOnlyInput,
                Schema schema) {
            this(input, keys, calls, phase, appendOnlyInput, Optional.empty(), schema);
        }

        /** The same with another rule for what it forgets. */
        public Aggregate forgetting(Optional<Forgetting> rule) {
            return new Aggregate(input, keys, calls, phase, appendOnlyInput, rule, schema);
        }

        @Override
        public int hashCode() {
            return PlanHash.of(this, 31 * keys.hashCode() + calls.size());
        }
    }

    /**
     * Aggregates per key and window by slices and emits each window once, when the watermark reaches its end; input and
     * output are append-only. Output: keys, calls, window_start, window_end (sessions by their rows' bounds).
     */
    record WindowAggregate(
            PlanNode input,
            int timeColumn,
            WindowSpec window,
            List<Integer> keys,
            List<AggregateCall> calls,
            Phase phase,
            Schema schema)
            implements Unary {
        public WindowAggregate {
            keys = List.copyOf(keys);
            calls = List.copyOf(calls);
        }
    }

    /**
     * Per key and window, the rows whose {@code valueColumn} is the window's maximum (or minimum), all of them on a tie,
     * emitted at window close; NULL never is. What a join of a window with its own extreme means. With {@code closedEnd}
     * a row exactly at a window's end is also compared with (but does not count for) that window. Output: input columns,
     * window_start, window_end. The PARTIAL phase passes on at once those rows that may be among them and has the input's
     * schema; what reads it is a SINGLE one.
     */
    record WindowExtreme(
            PlanNode input,
            int timeColumn,
            WindowSpec window,
            List<Integer> keys,
            int valueColumn,
            boolean maximum,
            boolean closedEnd,
            Phase phase,
            Schema schema)
            implements Unary {
        public WindowExtreme {
            if (phase == Phase.FINAL) {
                throw new IllegalArgumentException("candidates are rows as any others: no phase is final");
            }
            keys = List.copyOf(keys);
        }
    }

    /** Kinds of join. */
    enum JoinKind {
        INNER,
        LEFT,
        RIGHT,
        FULL,
        SEMI,
        ANTI
    }

    /**
     * Joins on equal keys (NULL equals nothing) and {@code residual}, an expression over left columns then right
     * columns. Bilinear in weights, unless {@code time} says otherwise. Output: left columns, right columns.
     */
    record Join(
            PlanNode left,
            PlanNode right,
            JoinKind kind,
            List<Integer> leftKeys,
            List<Integer> rightKeys,
            Optional<Expression> residual,
            Optional<JoinTime> time,
            Schema schema)
            implements PlanNode {
        public Join {
            leftKeys = List.copyOf(leftKeys);
            rightKeys = List.copyOf(rightKeys);
        }

        /** The ends of windows, if the join is one of windows. */
        public Optional<JoinTime.WindowEnds> windowEnds() {
            return time.filter(JoinTime.WindowEnds.class::isInstance).map(JoinTime.WindowEnds.class::cast);
        }

        @Override
        public List<PlanNode> inputs() {
            return List.of(left, right);
        }

        @Override
        public int hashCode() {
            return PlanHash.of(
                    this,
                    31 * (31 * leftKeys.hashCode() + rightKeys.hashCode())
                            + PlanHash.of(residual.stream().toList()));
        }
    }

    /**
     * Inner joins of three or more inputs on one key as one: rows of all inputs whose keys are equal (NULL equals nothing).
     * Linear in the weights of each input. Output: the columns of all inputs in order.
     *
     * @param keys of each input, of the same types
     */
    record MultiJoin(List<PlanNode> inputs, List<List<Integer>> keys, Schema schema) implements PlanNode {
        public MultiJoin {
            inputs = List.copyOf(inputs);
            keys = keys.stream().map(List::copyOf).toList();
            if (inputs.size() != keys.size()) {
                throw new IllegalArgumentException(inputs.size() + " inputs have keys of " + keys.size());
            }
        }

        @Override
        public int hashCode() {
            return PlanHash.of(this, keys.hashCode());
        }
    }

    /** How TopN numbers rows. */
    enum Rank {
        ROW_NUMBER,
        RANK,
        DENSE_RANK
    }

    /**
     * Per partition the rows of rank {@code offset + 1} to {@code offset + limit}, kept incrementally, or with
     * {@code windowEnd} emitted once when the watermark reaches that column's value. Output: input columns, then the
     * rank (BIGINT) if {@code emitRank}. {@code appendOnlyInput} promises that no row is taken back. {@code forgetting} says
     * which partitions go though nobody took their rows back.
     */
    record TopN(
            PlanNode input,
            List<Integer> partition,
            List<OrderKey> order,
            Rank rank,
            long limit,
            long offset,
            boolean emitRank,
            OptionalInt windowEnd,
            boolean appendOnlyInput,
            Optional<Forgetting> forgetting,
            Schema schema)
            implements Unary {
        public TopN {
            partition = List.copyOf(partition);
            order = List.copyOf(order);
        }

        /** A ranking that forgets nothing. */
        public TopN(
                PlanNode input,
                List<Integer> partition,
                List<OrderKey> order,
                Rank rank,
                long limit,
                long offset,
                boolean emitRank,
                OptionalInt windowEnd,
                boolean appendOnlyInput,
                Schema schema) {
            this(
                    input,
                    partition,
                    order,
                    rank,
                    limit,
                    offset,
                    emitRank,
                    windowEnd,
                    appendOnlyInput,
                    Optional.empty(),
                    schema);
        }

        /** The same with another rule for what it forgets. */
        public TopN forgetting(Optional<Forgetting> rule) {
            return new TopN(
                    input,
                    partition,
                    order,
                    this.rank,
                    limit,
                    offset,
                    emitRank,
                    windowEnd,
                    appendOnlyInput,
                    rule,
                    schema);
        }
    }

    /**
     * Finds row patterns per partition, in {@code order} (ties as they arrived). In a standing query the first key is the
     * event time, ascending, and rows are looked at when the watermark has passed them; a row older than the watermark
     * is late. Input and output are append-only. Output: {@code outputs}, expressions whose column i is
     * {@code values[i]}.
     */
    record Match(
            PlanNode input,
            List<Integer> partition,
            List<OrderKey> order,
            MatchSpec spec,
            List<MatchValue> values,
            List<Expression> outputs,
            Schema schema)
            implements Unary {
        public Match {
            partition = List.copyOf(partition);
            order = List.copyOf(order);
            values = List.copyOf(values);
            outputs = List.copyOf(outputs);
        }

        /**
         * Whether rows may come after the last watermark, at the end of its epoch, when updating operators speak; then
         * the last matches are emitted at that end too.
         */
        public boolean inputSpeaksAtEpochEnd() {
            return speaksAtEpochEnd(input);
        }

        private static boolean speaksAtEpochEnd(PlanNode node) {
            return node instanceof Aggregate
                    || node instanceof Join
                    || node instanceof Sort
                    || node instanceof TopN topN && topN.windowEnd().isEmpty()
                    || node instanceof Over over && over.closing().isEmpty()
                    || node instanceof Match match && match.inputSpeaksAtEpochEnd()
                    || node.inputs().stream().anyMatch(Match::speaksAtEpochEnd);
        }
    }

    /**
     * Window functions over the rows of each partition in their order. Rows that tie are numbered in the order of their
     * bytes. Emits the changes that an epoch's rows make, or with {@code closing}, the column of a watermark's time and
     * first in {@code order}, ascending: each row once, when the watermark has passed its time. Output: input columns,
     * then calls.
     */
    record Over(
            PlanNode input,
            List<Integer> partition,
            List<OrderKey> order,
            List<OverCall> calls,
            OptionalInt closing,
            Schema schema)
            implements Unary {
        public Over {
            partition = List.copyOf(partition);
            order = List.copyOf(order);
            calls = List.copyOf(calls);
        }
    }

    /** A table function by its name, over columns of the input, and the columns it gives. */
    record TableCall(String function, List<Integer> arguments, List<Field> outputs) {
        public TableCall {
            arguments = List.copyOf(arguments);
            outputs = List.copyOf(outputs);
        }
    }

    /**
     * Puts beside each row the rows that table functions make of it. Several functions are put side by side, NULL where
     * one has fewer rows than another. Linear in weights. Output: the columns {@code kept}, the functions' columns, and
     * with {@code ordinality} the number of the row among those of its input row, from 1 (BIGINT).
     *
     * @param outer whether a row of which nothing is made stays, once, with NULLs
     */
    record Expand(
            PlanNode input, List<Integer> kept, List<TableCall> calls, boolean ordinality, boolean outer, Schema schema)
            implements Unary {
        public Expand {
            kept = List.copyOf(kept);
            calls = List.copyOf(calls);
        }
    }

    /**
     * Keeps the rows that a bound lets through which rises with the clock. {@code bound} reads the clock alone, by {@code
     * now()}, never falls as time goes on, and has the type of {@code timeColumn}: TIMESTAMP, TIMESTAMPTZ or BIGINT. A row
     * without a time (NULL) is never there.
     *
     * @param leaving rows are there while their time is above the bound; else, from when it is below
     * @param atBound whether a row is there whose time is the bound
     */
    record TimeFilter(PlanNode input, int timeColumn, Expression bound, boolean leaving, boolean atBound)
            implements PlanNode {
        @Override
        public Schema schema() {
            return input.schema();
        }

        @Override
        public List<PlanNode> inputs() {
            return List.of(input);
        }
    }

    /**
     * Holds changes back and emits what is left of them at most every {@code periodMicros} of the machine's time, and at
     * the end of the input.
     */
    record Pace(PlanNode input, long periodMicros) implements SameColumns {
        public Pace {
            if (periodMicros <= 0) {
                throw new IllegalArgumentException("a period must be positive, not " + periodMicros + " us");
            }
        }
    }

    /** All rows of all inputs; weights add. */
    record Union(List<PlanNode> inputs, Schema schema) implements PlanNode {
        public Union {
            inputs = List.copyOf(inputs);
        }

        @Override
        public int hashCode() {
            return PlanHash.of(this, inputs.size());
        }
    }

    /** Orders and cuts a finite result; pull queries only. {@code limit} -1 means all. */
    record Sort(PlanNode input, List<OrderKey> order, long limit, long offset) implements SameColumns {
        public Sort {
            order = List.copyOf(order);
        }
    }

    /** Where rows go when a pipeline ends (Neptune, thesis ch. 3: partitioning schemes). */
    sealed interface Distribution {
        /** To the task that owns the key group of these columns. */
        record Hash(List<Integer> columns) implements Distribution {
            public Hash {
                columns = List.copyOf(columns);
            }
        }

        /** To one task. */
        record Single() implements Distribution {}

        /** To every task. */
        record Broadcast() implements Distribution {}

        /** Batch by batch to each task in turn. */
        record RoundRobin() implements Distribution {}
    }

    /** Cuts the plan into pipelines. */
    record Exchange(PlanNode input, Distribution distribution) implements SameColumns {}
}
