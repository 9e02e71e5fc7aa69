/**
 * What the text of a query says of buckets without rows: keys, the bucket among them, and bounds. Entry: {@link dev.millrace.sql.bind.gap.GapKeys}; binds nothing.
 */
package dev.millrace.sql.bind.gap;
