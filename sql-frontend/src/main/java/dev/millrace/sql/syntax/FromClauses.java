package dev.millrace.sql.syntax;

/** Names in the tree of a query that say what Calcite's trees have no node for; no user's object is called so. */
public final class FromClauses {
    /** Stands for the FROM of a SELECT without one: one row without columns. */
    public static final String ONE_ROW = "one row";

    /** As last order key of a window: its frame is in GROUPS. */
    public static final String GROUPS_FRAME = "groups frame";

    /** As last order key of a query: its FETCH is WITH TIES. */
    public static final String WITH_TIES = "with ties";

    /** As last order keys of a query: calls of a LIMIT and an OFFSET that are expressions. */
    public static final String LIMIT_IS = "limit is";

    public static final String OFFSET_IS = "offset is";

    /** In GROUP BY and ORDER BY: ALL, the columns of the SELECT list that are no aggregates, or all. */
    public static final String ALL_COLUMNS = "all columns";

    /** As last column of USING, with a name behind it: the columns that the join merges go by that name, too. */
    public static final String USING_AS = "using as";

    /** Between the sides of a UNION BY NAME. */
    public static final String BY_NAME = "by name";

    /** Between the sides of a UNION CORRESPONDING, with the names of BY behind it, if it has them. */
    public static final String CORRESPONDING = "corresponding columns";

    /** A call that stands for columns: of the relation of this name or, if empty, all; with calls that change them. */
    public static final String STAR_COLUMNS = "star columns";

    /** A call of names and values in turn that makes a row. */
    public static final String ROW_OF = "row of";

    /** The rows that UNPIVOT makes, which the star before them does not stand for. */
    public static final String UNPIVOTED = "millrace_unpivoted";

    /** As last argument of a call: a call with an array in the place of any number of arguments. */
    public static final String VARIADIC = "variadic";

    private FromClauses() {}
}
