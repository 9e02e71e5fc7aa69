/**
 * The forms in which a segment's rows can be stored, and the choice of the smallest that stays as queryable as asked for.
 *
 * <p>Per feature ({@link dev.millrace.sketch.form.NumberColumnCodec}, {@link dev.millrace.sketch.form.TextColumnCodec}): a
 * dictionary of the symbols that occur, how often each does, and their sequence ({@link
 * dev.millrace.sketch.form.SequencePlan}: runs, packed ranks, or one of the codes of {@code entropy}), or without a
 * dictionary the bins' numbers themselves. Over all features ({@link dev.millrace.sketch.form.JointPlan}): the dictionary
 * of their combinations with runs, or the published inverted index with a plain or Roaring bitmap each. The layout in bits
 * is in the package-info of {@code segment}. One thread each.
 */
package dev.millrace.sketch.form;
