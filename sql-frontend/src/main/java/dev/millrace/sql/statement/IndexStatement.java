package dev.millrace.sql.statement;

import java.util.List;
import java.util.Optional;

/** Statements about indexes. DROP INDEX is a {@link Statement.Drop}. */
public sealed interface IndexStatement extends Statement.TableStatement {
    /** Why REINDEX has nothing to do. */
    String ALWAYS_CURRENT = "indexes are kept current with their rows: there is nothing to do";

    /** A column by which rows are ordered. */
    record Column(String name, boolean descending, boolean nullsFirst) {}

    /**
     * CREATE INDEX.
     *
     * @param name without one it gets one
     * @param method {@code btree} or {@code hash}
     * @param beside columns that others keep in the index beside its own (INCLUDE), or by which they spread it (DISTRIBUTED BY)
     */
    record CreateIndex(
            Optional<String> name,
            String relation,
            String method,
            boolean unique,
            List<Column> columns,
            List<String> beside,
            boolean ifNotExists)
            implements IndexStatement {
        public CreateIndex {
            columns = List.copyOf(columns);
            beside = List.copyOf(beside);
        }
    }

    /** ALTER INDEX .. RENAME TO. */
    record RenameIndex(String name, boolean ifExists, String newName) implements IndexStatement {}

    /** REINDEX of an index or a table, which has nothing to do here. */
    record Reindex(boolean index, String name) implements IndexStatement {}
}
