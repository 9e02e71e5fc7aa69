package dev.millrace.sql.syntax;

/** Names that the parser puts into a query to say what the grammar has no words for; no user's object is called so. */
public final class FromClauses {
    /** Stands for the FROM of a SELECT without one: one row without columns. */
    public static final String ONE_ROW = "one row";

    /** As last order key of a window: its frame is in GROUPS. */
    public static final String GROUPS_FRAME = "groups frame";

    /** As last order key of a query: its FETCH is WITH TIES. */
    public static final String WITH_TIES = "with ties";

    private FromClauses() {}
}
