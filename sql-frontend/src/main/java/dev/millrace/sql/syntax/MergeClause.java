package dev.millrace.sql.syntax;

import java.util.List;
import java.util.Optional;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;

/**
 * One WHEN of MERGE.
 *
 * @param position in the text, from 1
 */
public record MergeClause(Match match, Optional<SqlNode> condition, Action action, int position) {
    /** Which pairs of a row of the table and one of the source it is about. */
    public enum Match {
        /** Both are there. */
        MATCHED,
        /** A row of the source alone. */
        NOT_MATCHED,
        /** A row of the table alone. */
        NOT_MATCHED_BY_SOURCE
    }

    /** What is done. */
    public sealed interface Action {}

    public record Update(List<Syntax.Assignment> assignments) implements Action {}

    public record Delete() implements Action {}

    /** No values are DEFAULT VALUES; no columns are all, in their order. */
    public record Insert(List<SqlIdentifier> columns, Syntax.Overriding overriding, List<SqlNode> values)
            implements Action {}

    /** DO NOTHING. */
    public record Nothing() implements Action {}
}
