package dev.millrace.server.planning;

import dev.millrace.batch.Batch;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.Result;
import dev.millrace.engine.statistic.ColumnSketch;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.estimate.ColumnStatistics;
import dev.millrace.planner.estimate.RelationStatistics;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the planner may know of tables and views: their rows, counted at each question, and sketches of those columns that it
 * has asked for. A sketch is made of a sample when it is first wanted and again when a fifth of the rows have come or gone
 * since; it goes with its relation. Safe on any thread.
 */
public final class TableStatistics {
    private static final int SAMPLE_ROWS = 1 << 16;
    private static final long FEW_ROWS = 64;

    private final Engine engine;
    private final Map<String, Known> known = new ConcurrentHashMap<>();

    public TableStatistics(Engine engine) {
        this.engine = engine;
    }

    /** What is known of a relation now; of one that keeps no rows nothing. */
    public RelationStatistics of(String name) {
        if (engine.relations().rows(name).isEmpty()) {
            known.remove(name);
            return RelationStatistics.UNKNOWN;
        }
        Schema schema = engine.relations().schema(name);
        return known.compute(
                name, (key, before) -> before != null && before.schema == schema ? before : new Known(name, schema));
    }

    /** The same for a standing query, without reading any rows for it: others may wait for who plans. */
    public RelationStatistics atHand(String name) {
        return of(name) instanceof Known relation
                ? relation.atHand()
                : new Endless(engine.relations().rowsSoFar(name));
    }

    /** A relation whose rows come and are not kept. */
    private record Endless(OptionalLong rowsSoFar) implements RelationStatistics {
        @Override
        public OptionalLong rows() {
            return OptionalLong.empty();
        }

        @Override
        public Optional<ColumnStatistics> column(int column) {
            return Optional.empty();
        }
    }

    /** One relation, as long as it lives and has these columns. */
    private final class Known implements RelationStatistics {
        private final String name;
        private final Schema schema;
        private final Map<Integer, Sketched> sketches = new ConcurrentHashMap<>();

        Known(String name, Schema schema) {
            this.name = name;
            this.schema = schema;
        }

        @Override
        public OptionalLong rows() {
            return engine.relations().rows(name);
        }

        @Override
        public OptionalLong rowsSoFar() {
            return OptionalLong.empty();
        }

        @Override
        public Optional<ColumnStatistics> column(int column) {
            DataType type = schema.type(column);
            long rows = rows().orElse(0);
            if (rows == 0 || !ColumnSketch.takes(type)) {
                return Optional.empty();
            }
            Sketched sketched = sketches.get(column);
            if (sketched == null || isOld(sketched, rows)) {
                Optional<ColumnSketch> sketch = sketch(column, rows);
                if (sketch.isEmpty()) {
                    return Optional.empty();
                }
                sketched = new Sketched(sketch.get(), rows);
                sketches.put(column, sketched);
            }
            return Optional.of(sketched);
        }

        RelationStatistics atHand() {
            return new RelationStatistics() {
                @Override
                public OptionalLong rows() {
                    return Known.this.rows();
                }

                @Override
                public OptionalLong rowsSoFar() {
                    return OptionalLong.empty();
                }

                @Override
                public Optional<ColumnStatistics> column(int column) {
                    return Optional.ofNullable(sketches.get(column));
                }
            };
        }

        private boolean isOld(Sketched sketched, long rows) {
            return Math.abs(rows - sketched.rows) > Math.max(FEW_ROWS, sketched.rows / 5);
        }

        /** Empty when the rows cannot be read: a plan can do without. */
        private Optional<ColumnSketch> sketch(int column, long rows) {
            List<Integer> columns = List.of(column);
            PlanNode.Scan scan = new PlanNode.Scan(name, columns, List.of(), schema.select(columns));
            int every = (int) Math.max(1, rows / SAMPLE_ROWS);
            ColumnSketch sketch = new ColumnSketch(schema.type(column));
            try (Result result = engine.run(scan)) {
                int first = 0;
                for (Optional<Batch> next = result.next(); next.isPresent(); next = result.next()) {
                    Interrupt.checkCurrent();
                    try (Batch batch = next.get()) {
                        sketch.add(batch, 0, first, every);
                        first = Math.floorMod(first - batch.rowCount(), every);
                    }
                }
                return Optional.of(sketch);
            } catch (MillraceException e) {
                Interrupt.checkCurrent();
                return Optional.empty();
            }
        }
    }

    /** @param rows of the relation when the sketch was made */
    private record Sketched(ColumnSketch sketch, long rows) implements ColumnStatistics {
        @Override
        public double distinct() {
            return sketch.distinct(rows);
        }

        @Override
        public double nullFraction() {
            return sketch.nullFraction();
        }

        @Override
        public OptionalDouble equalTo(Object value) {
            return sketch.equalTo(value, rows);
        }

        @Override
        public OptionalDouble below(Object value) {
            return sketch.below(value);
        }
    }
}
