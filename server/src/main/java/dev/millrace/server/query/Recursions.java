package dev.millrace.server.query;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.rows.RowKeyText;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Recursion;
import dev.millrace.type.Schema;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;

/**
 * Computes what a query of WITH RECURSIVE reads, before it: round by round, as PostgreSQL does. All rounds and the query see the relations
 * that they read as they were before the first: these are copied. What is held is no more than a query may use, and goes with the
 * statement. Belongs to the session's thread.
 */
final class Recursions {
    private static final long TEXT_BYTES = 64; // that a text in a set takes beside its letters

    /** A query over what is at hand when its rows are asked for. */
    interface Reading extends AutoCloseable {
        StatementResult.Rows rows();

        @Override
        default void close() {}
    }

    private final Map<String, Batch> atHand;
    private final Function<String, StatementResult.Rows> copy;
    private final Function<Query, Reading> read;
    private final BufferAllocator allocator;
    private final long mostBytes;
    private long bytes; // of rows that were gathered, each once

    /**
     * @param atHand what queries read under names that are no relation's; names are put there and taken away
     * @param copy all rows of a relation
     * @param read the rows of a query over what is at hand, as often as is asked for
     * @param mostBytes that a query may hold
     */
    Recursions(
            Map<String, Batch> atHand,
            Function<String, StatementResult.Rows> copy,
            Function<Query, Reading> read,
            BufferAllocator allocator,
            long mostBytes) {
        this.atHand = atHand;
        this.copy = copy;
        this.read = read;
        this.allocator = allocator;
        this.mostBytes = mostBytes;
    }

    /** The rows of a query over those of its recursions. */
    StatementResult.Rows rows(Query query) {
        Map<String, Batch> put = new LinkedHashMap<>();
        bytes = 0;
        try {
            for (String relation : query.relations()) {
                if (!Relation.isAtHand(relation) && !atHand.containsKey(relation)) {
                    put(relation, gathered(copy.apply(relation), (batch, row) -> true), put);
                }
            }
            for (Recursion recursion : query.recursions()) {
                if (!atHand.containsKey(recursion.rows())) {
                    put(recursion.rows(), all(recursion), put);
                }
            }
            return rowsOf(query.withoutRecursions());
        } finally {
            put.keySet().forEach(atHand::remove);
            Closing.all(put.values());
        }
    }

    private void put(String relation, Batch rows, Map<String, Batch> put) {
        put.put(relation, rows);
        atHand.put(relation, rows);
    }

    private StatementResult.Rows rowsOf(Query query) {
        try (Reading once = read.apply(query)) {
            return once.rows();
        }
    }

    /** Counts what is held, which may not be more than a query's. */
    private void hold(long more) {
        bytes += more;
        if (bytes > mostBytes) {
            throw MillraceException.resources(
                            SqlState.OUT_OF_MEMORY, "the rows of WITH RECURSIVE are more than " + mostBytes + " bytes")
                    .withHint(
                            "a condition in the recursive term ends it, UNION where rows come again; SET max_query_memory");
        }
    }

    private Batch all(Recursion recursion) {
        Set<String> seen = new HashSet<>();
        Interrupt interrupt = Interrupt.current();
        Schema schema = recursion.base().schema();
        int[] columns = IntStream.range(0, schema.size()).toArray();
        Optional<Batch> last = Optional.empty();
        try (Reading step = read.apply(recursion.step());
                RowCopier all = new RowCopier(schema, allocator)) {
            StatementResult.Rows round = rowsOf(recursion.base());
            while (true) {
                Batch rows = gathered(round, (batch, row) -> !recursion.distinct() || isNew(batch, row, seen));
                last.ifPresent(Batch::close);
                last = Optional.of(rows);
                all.copyAll(rows, columns);
                if (rows.rowCount() == 0 || all.rowCount() >= recursion.enough().orElse(Long.MAX_VALUE)) {
                    return all.build();
                }
                interrupt.check();
                atHand.put(recursion.rows(), rows);
                round = step.rows();
            }
        } finally {
            atHand.remove(recursion.rows());
            last.ifPresent(Batch::close);
        }
    }

    private boolean isNew(Batch batch, int row, Set<String> seen) {
        String text = RowKeyText.ofEqual(batch, row);
        boolean added = seen.add(text);
        if (added) {
            hold(TEXT_BYTES + text.length());
        }
        return added;
    }

    /** Some rows of a result in one batch that the caller owns; closes the result. */
    private Batch gathered(StatementResult.Rows source, BiPredicate<Batch, Integer> wanted) {
        int[] columns = IntStream.range(0, source.schema().size()).toArray();
        try (source;
                RowCopier copier = new RowCopier(source.schema(), allocator)) {
            source.forEach(batch -> {
                int before = copier.rowCount();
                for (int row = 0; row < batch.rowCount(); row++) {
                    if (wanted.test(batch, row)) {
                        copier.copy(batch, columns, row, 1);
                    }
                }
                if (batch.rowCount() > 0) {
                    hold(bytesOfRow(batch) * (copier.rowCount() - before));
                }
            });
            return copier.build();
        }
    }

    /** What a row of a batch takes among many, on average: less than in a batch of one, as most rounds have it. */
    private static long bytesOfRow(Batch batch) {
        long bytes = 1;
        for (int column = 0; column < batch.columnCount(); column++) {
            bytes += bytes(batch.column(column), batch.rowCount()) / batch.rowCount();
        }
        return bytes;
    }

    /** What so many values take, without room for more. */
    private static long bytes(FieldVector vector, long count) {
        if (vector instanceof BaseFixedWidthVector fixed) {
            return count * (1 + fixed.getTypeWidth());
        } else if (vector instanceof BaseVariableWidthVector texts) {
            return count * (1 + Integer.BYTES) + inside(texts.getOffsetBuffer(), count);
        } else if (vector instanceof ListVector lists) {
            long elements = inside(lists.getOffsetBuffer(), count);
            return count * (1 + Integer.BYTES) + bytes((FieldVector) lists.getDataVector(), elements);
        }
        long bytes = count;
        for (FieldVector field : vector.getChildrenFromFields()) {
            bytes += bytes(field, count);
        }
        return bytes;
    }

    /** Bytes or elements of so many values. */
    private static long inside(ArrowBuf offsets, long count) {
        return count == 0 ? 0 : offsets.getInt(count * Integer.BYTES) - offsets.getInt(0);
    }
}
