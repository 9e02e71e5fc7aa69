/**
 * The past of streams that keep it: each has a {@code SegmentStore} (storage.retention) in {@code DIR/streams/NUMBER}, NUMBER being that of
 * the stream's rows in the log.
 *
 * <p>Entry: {@link dev.millrace.server.retention.RetainedStreams}, which the journal tells of rows as they are accepted. {@link
 * dev.millrace.server.retention.RetentionClause} reads the options, {@link dev.millrace.server.retention.RetainedPast} is what a SELECT reads, {@link
 * dev.millrace.server.retention.StreamFollower} a standing query that begins in the past,
 * {@code DerivedRows} has the rows of a query that fills a stream kept, {@link dev.millrace.server.retention.RetentionThread} writes segments and lets old ones go. Not a log: what is in no segment yet is in
 * {@code server.journal}'s.
 */
package dev.millrace.server.retention;
