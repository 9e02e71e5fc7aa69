package dev.millrace.plan.expression;

/** One key of an ordering. PostgreSQL's default puts NULLs last ascending and first descending. */
public record OrderKey(int column, boolean descending, boolean nullsFirst) {
    @Override
    public String toString() {
        return "$" + column + (descending ? " DESC" : "")
                + (nullsFirst != descending ? (nullsFirst ? " NULLS FIRST" : " NULLS LAST") : "");
    }
}
