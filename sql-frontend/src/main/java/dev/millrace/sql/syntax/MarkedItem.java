package dev.millrace.sql.syntax;

import java.util.List;
import java.util.Optional;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlWithItem;

/** A query of WITH RECURSIVE with SEARCH or CYCLE behind it, which add columns. */
public final class MarkedItem extends SqlWithItem {
    /**
     * SEARCH: a column by which rows are in the order in which a search comes to them.
     *
     * @param by the columns that tell rows from each other
     */
    public record Search(boolean depthFirst, List<SqlIdentifier> by, SqlIdentifier sequence) {}

    /**
     * CYCLE: a column that says whether a row was come to before on the same way, from which nothing goes on then, and one with the way.
     *
     * @param value of the mark of such a row
     * @param otherwise of others
     */
    public record Cycle(
            List<SqlIdentifier> by, SqlIdentifier mark, SqlNode value, SqlNode otherwise, SqlIdentifier path) {}

    private final transient Optional<Search> search;
    private final transient Optional<Cycle> cycle;

    public MarkedItem(SqlWithItem item, Optional<Search> search, Optional<Cycle> cycle) {
        super(item.getParserPosition(), item.name, item.columnList, item.query, item.recursive);
        this.search = search;
        this.cycle = cycle;
    }

    public Optional<Search> search() {
        return search;
    }

    public Optional<Cycle> cycle() {
        return cycle;
    }
}
