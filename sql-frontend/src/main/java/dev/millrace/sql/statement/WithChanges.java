package dev.millrace.sql.statement;

import java.util.List;

/**
 * WITH that changes rows, and what is behind it: all parts see what was there before the statement, and take effect together.
 *
 * @param parts in the order they were written, each of them INSERT, UPDATE, DELETE or MERGE
 * @param main one of these, or SELECT
 */
public record WithChanges(List<Part> parts, Statement main) implements Statement.TableStatement {
    /** A change; {@code rows} is the relation under which other parts read what it returns. */
    public record Part(String rows, Statement change) {}

    public WithChanges {
        parts = List.copyOf(parts);
    }
}
