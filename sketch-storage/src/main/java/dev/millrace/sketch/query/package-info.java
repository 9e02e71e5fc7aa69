/**
 * Questions answered on a sketch without materialising it, each answer with bounds that hold for the observations that went
 * into it (dissertation §6.2.4, and beyond it).
 *
 * <p>Entry: {@link dev.millrace.sketch.query.SketchQuery}, {@link dev.millrace.sketch.query.PartialAnswer} for many sketches. A
 * sketch's rows become cells, alike in all that is asked about ({@code SketchExecution}, through {@code Filter} and {@code TimeParts}), and
 * each group's aggregates take them ({@code Partial}). The cost is per distinct value where one feature is asked about
 * or the form knows the combinations, per run where runs have to be laid side by side, and per row only where rows are
 * stored one by one. Queries are immutable; a sketch may be asked by many threads.
 */
package dev.millrace.sketch.query;
