package dev.millrace.sql.bind.scope;

import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlWindow;

/**
 * What expressions in a part of a query may hold.
 *
 * @param name as messages call it
 * @param aggregates where aggregate calls go; empty where they are not allowed
 * @param windows whether OVER is allowed
 * @param columns told of each column of this level that an expression reads
 * @param namedWindows those of the WINDOW clause
 */
public record Clause(
        String name,
        Optional<AggregateCalls> aggregates,
        boolean windows,
        Optional<BiConsumer<RexNode, SqlIdentifier>> columns,
        List<SqlWindow> namedWindows) {

    public Clause(
            String name,
            Optional<AggregateCalls> aggregates,
            boolean windows,
            Optional<BiConsumer<RexNode, SqlIdentifier>> columns) {
        this(name, aggregates, windows, columns, List.of());
    }

    /** A clause with neither aggregates nor OVER. */
    public static Clause plain(String name) {
        return new Clause(name, Optional.empty(), false, Optional.empty());
    }

    public void sawColumn(RexNode column, SqlIdentifier name) {
        columns.ifPresent(listener -> listener.accept(column, name));
    }
}
