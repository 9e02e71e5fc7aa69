/**
 * The kept answer of a query, or rows of a table.
 *
 * <p>Entry: {@link dev.millrace.engine.view.View}. Not safe by itself: its owner's commit lock is.
 */
package dev.millrace.engine.view;
