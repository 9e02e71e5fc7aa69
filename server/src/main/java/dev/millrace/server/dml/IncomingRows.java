package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.copy.LiteralInput;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.statement.LiteralRows;
import dev.millrace.sql.statement.LiteralRows.Cell;
import dev.millrace.sql.statement.LiteralText;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.RowRules;
import dev.millrace.sql.statement.RowSource;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Rows on their way into a relation: widened to all its columns, completed as its rules say, and checked. */
public final class IncomingRows {
    private final Instance database;
    private final Queries queries;

    public IncomingRows(Instance database, Queries queries) {
        this.database = database;
        this.queries = queries;
    }

    private BufferAllocator allocator() {
        return database.engine().allocator();
    }

    /** For each column of the target, the column of the source that gives it its value. */
    static int[] places(List<Integer> columns, CatalogObject target) {
        int[] places = new int[target.schema().size()];
        Arrays.fill(places, RowCopier.NONE);
        for (int from = 0; from < columns.size(); from++) {
            places[columns.get(from)] = from;
        }
        return places;
    }

    /**
     * The rows of an INSERT as rows of the target, in one batch that the caller owns.
     *
     * @param given what gives the rows of a query
     */
    public Batch of(
            RowSource source,
            List<Integer> columns,
            CatalogObject target,
            Function<Query, StatementResult.Rows> given) {
        int[] places = places(columns, target);
        return complete(rows(source, places, target, given), places, target);
    }

    private Batch rows(
            RowSource source, int[] places, CatalogObject target, Function<Query, StatementResult.Rows> given) {
        if (source instanceof LiteralRows literals) {
            return LiteralInput.rows(literals, target.schema(), places, allocator());
        } else if (source instanceof LiteralText literals) {
            return LiteralInput.rows(literals, target.schema(), places, allocator());
        }
        return copied(given.apply((Query) source), places, target);
    }

    private Batch copied(StatementResult.Rows source, int[] places, CatalogObject target) {
        try (StatementResult.Rows rows = source;
                RowCopier copier = new RowCopier(target.schema(), allocator())) {
            rows.forEach(batch -> copier.copyAll(batch, places));
            return copier.build();
        }
    }

    /** Rows of some columns as rows of the target; takes the batch over, and gives one that the caller owns. */
    public Batch widened(Batch rows, List<Integer> columns, CatalogObject target) {
        int[] places = places(columns, target);
        try (rows;
                RowCopier copier = new RowCopier(target.schema(), allocator())) {
            copier.copyAll(rows, places);
            return complete(copier.build(), places, target);
        }
    }

    private Batch complete(Batch rows, int[] places, CatalogObject target) {
        return checked(withMade(rows, places, target), target);
    }

    // ---- what the server makes -------------------------------------------------------------------------------------

    private Batch withMade(Batch rows, int[] places, CatalogObject target) {
        Batch all = rows;
        for (int column = 0; column < target.schema().size(); column++) {
            Field field = target.schema().field(column);
            Optional<ColumnRule> rule = target.rules().of(field.name()).filter(ColumnRule::isMade);
            if (rule.isPresent() && places[column] == RowCopier.NONE && rows.rowCount() > 0) {
                try (Batch before = all;
                        Batch made = made(target, field, rule.get(), rows.rowCount())) {
                    all = replaced(before, column, made.column(0), made);
                }
            }
        }
        return all;
    }

    private Batch made(CatalogObject target, Field field, ColumnRule rule, int rows) {
        List<Cell> cells = new ArrayList<>(rows);
        for (int row = 0; row < rows; row++) {
            String value = database.catalog().numbers().value(target.name(), field.name(), rule);
            cells.add(new Cell(LiteralRows.Kind.STRING, value, 0));
        }
        return LiteralInput.rows(new LiteralRows(1, cells), Schema.of(field), new int[] {0}, allocator());
    }

    private static Batch replaced(Batch rows, int column, FieldVector by, Batch owner) {
        FieldVector[] columns = new FieldVector[rows.columnCount()];
        for (int i = 0; i < columns.length; i++) {
            columns[i] = i == column ? by : rows.column(i);
        }
        return Batch.view(
                rows.schema(), columns, rows.rowCount(), rows.weights(), List.of(rows.retain(), owner.retain()));
    }

    // ---- what must hold --------------------------------------------------------------------------------------------

    /**
     * Rows of the target with the columns that are computed from others; takes the batch over, and gives one that the caller
     * owns.
     *
     * @throws MillraceException 23502 for a NULL where there may be none, 23514 for a row that fails a CHECK
     */
    Batch checked(Batch rows, CatalogObject target) {
        RowRules rules = database.plans().rules(target);
        Batch all = rows;
        try {
            if (rules.generation().isPresent() && rows.rowCount() > 0) {
                Batch before = all;
                all = queries.whole(queries.over(rules.generation().get(), before));
                before.close();
            }
            requireNotNull(target, all);
            if (rules.violations().isPresent() && rows.rowCount() > 0) {
                try (Batch failed =
                        queries.whole(queries.over(rules.violations().get(), all))) {
                    requireNone(target, failed);
                }
            }
            return all;
        } catch (RuntimeException e) {
            all.close();
            throw e;
        }
    }

    private static void requireNone(CatalogObject target, Batch failed) {
        for (int check = 0; failed.rowCount() > 0 && check < failed.columnCount(); check++) {
            boolean isFalse = !failed.column(check).isNull(0)
                    && Boolean.FALSE.equals(failed.column(check).getObject(0));
            if (isFalse) {
                throw MillraceException.user(
                        SqlState.CHECK_VIOLATION,
                        "new row for relation \"" + target.name() + "\" violates check constraint \""
                                + target.rules().checks().get(check).name() + "\"");
            }
        }
    }

    private static void requireNotNull(CatalogObject target, Batch rows) {
        for (int column = 0; column < target.schema().size(); column++) {
            Field field = target.schema().field(column);
            for (int row = 0; !field.nullable() && row < rows.rowCount(); row++) {
                if (rows.column(column).isNull(row)) {
                    throw MillraceException.user(
                            SqlState.NOT_NULL_VIOLATION,
                            "null value in column \"" + field.name() + "\" of relation \"" + target.name()
                                    + "\" violates not-null constraint");
                }
            }
        }
    }
}
