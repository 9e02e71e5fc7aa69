/**
 * What a standing query needs of a stream's rows, as a device can find it out, and the windows that a device makes of them: this page is the form of such programs.
 * Version 1 has rows, version 2 windows.
 *
 * <p>Entry: {@link dev.millrace.edge.program.RowProgram}, a value that the server makes of a plan and sends as a text, and
 * {@link dev.millrace.edge.program.RowNeeds}, which a device asks of each row; for windows {@link dev.millrace.edge.program.WindowProgram} and
 * {@link dev.millrace.edge.program.WindowGroups}, of which a device sends {@link dev.millrace.edge.program.Partials}. There is no loop in a program, no state and no call of anything else: a program
 * takes as long as it has nodes. Values are immutable and safe on any thread; {@code RowNeeds} and {@code WindowGroups} are of one thread.
 *
 * <p>A program is a list of lists. Texts stand in double quotes, with a backslash before a quote and a backslash, and {@code \}{@code uXXXX} for control characters.
 * At most 8,192 characters, 256 nodes, and 32 lists in each other; whoever reads one refuses what is more.
 *
 * <pre>
 *   program  (1 ("column" ..) condition?)          the columns that are read, and of which rows
 *   windows  (2 "id" (tumble SIZE OFFSET "time column") (keys node ..) aggregate .. where?)
 *                                                  microseconds; without add, subtract and multiply
 *   aggregate (count node where?) (sum node where?) (min node where?) (max node where?)     of wholes or numbers, count of all
 *   where    (where node)                          a truth value: what is not true does not count
 *   node     (column KIND "name")                  KIND: truth, whole, number, text
 *            (truth true) (whole 42) (number 1.5) (text "a")
 *            (and node ..) (or node ..) (not node)
 *            (eq a b) (ne a b) (lt a b) (le a b) (gt a b) (ge a b)      of one kind; texts only eq and ne
 *            (is_null node) (is_not_null node)
 *            (add a b) (subtract a b) (multiply a b)                    of wholes, or of numbers
 *            (to_number node)                                           of a whole
 * </pre>
 *
 * <p>Whole are all integers, dates (days) and timestamps (microseconds); number is REAL and DOUBLE PRECISION. NULL, NaN and the order of values are as in SQL
 * there. A row for which a computation overflows is needed: the server finds out what becomes of it.
 */
package dev.millrace.edge.program;
