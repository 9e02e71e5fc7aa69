package dev.millrace.sketch.form;

import dev.millrace.sketch.column.Symbols;

/** Whether a column is wanted, as its symbols tell it before its rows are decoded. */
@FunctionalInterface
public interface SymbolFilter {
    /** Any column is wanted. */
    SymbolFilter ANY = (symbols, nulls, rows) -> true;

    /**
     * Whether one of a column's rows may be wanted.
     *
     * @param nulls how many of its rows are NULL
     * @param rows how many it has
     */
    boolean mayMeet(Symbols symbols, int nulls, int rows);
}
