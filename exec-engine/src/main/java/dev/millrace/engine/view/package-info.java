/**
 * The kept answer of a query, or rows of a table.
 *
 * <p>Entry: {@link dev.millrace.engine.view.VersionedView}, whose readers see whole versions while it is written. Versions are
 * numbered by {@link dev.millrace.engine.epoch.Epochs}; rows carry the ones from and to which they are there ({@link
 * dev.millrace.engine.view.RowVersions}). Joins that get the changes read the other rows by
 * {@link dev.millrace.engine.view.FollowedRows}. {@link dev.millrace.engine.view.View} is a Z-set without versions, for one thread.
 */
package dev.millrace.engine.view;
