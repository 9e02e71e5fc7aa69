package dev.millrace.sql.statement;

import java.util.OptionalLong;

/**
 * A query of WITH RECURSIVE, whose rows are computed before those of the query that reads them: first the base's, then those of the step
 * over the rows that came last, until there are no more.
 *
 * @param rows the relation under which both the step and who reads the answer find rows: the step those of the round before, the others
 *     all
 * @param base reads no such rows
 * @param step reads them once; its columns are of the types of the base's
 * @param distinct UNION: a row that was there before is none
 * @param enough so many rows are as good as all of them: who reads them takes no more, whichever they are
 */
public record Recursion(String rows, Query base, Query step, boolean distinct, OptionalLong enough) {}
