/**
 * Tables that are kept like those of other databases: which there are, and how their feeds are.
 *
 * <p>Entry: {@link dev.millrace.server.feed.Feeds}. Statements add and drop feeds; threads that run them are made by who has sessions, and
 * bring changes through {@code server.dml}. Safe on any thread. Knows no statements.
 */
package dev.millrace.server.feed;
