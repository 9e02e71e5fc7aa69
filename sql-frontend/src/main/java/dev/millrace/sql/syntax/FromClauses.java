package dev.millrace.sql.syntax;

/** What the parser puts into FROM that nobody wrote. */
public final class FromClauses {
    /** Stands for the FROM of a SELECT without one: one row without columns. No user's relation has this name. */
    public static final String ONE_ROW = "one row";

    private FromClauses() {}
}
