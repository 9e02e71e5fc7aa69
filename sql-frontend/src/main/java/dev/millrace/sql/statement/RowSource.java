package dev.millrace.sql.statement;

/** Where the rows of an INSERT come from. */
public sealed interface RowSource permits Query, LiteralRows, LiteralText {}
