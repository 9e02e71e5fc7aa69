package dev.millrace.sketch.column;

/** The distinct values of a feature, by rank from 0. NULL is no symbol; its rank is {@link #size()}. Immutable. */
public sealed interface Symbols permits NumberSymbols, TextSymbols {
    int size();
}
