/**
 * Queries that differ in literals alone, as members of one group: one task looks up whom a row concerns, and what it gives goes to each member's
 * own subscribers.
 *
 * <pre>
 *   who joins and leaves   GroupMembers       a queue, from a session's thread to the task's, by epochs
 *   the task               MembersOperator    rows and members that match: a join of batches with literals, then the rest of the query
 *   what members keep      MemberPipelines    rows that are left by the filters, to the operators that each member has for itself
 *   what members answer    MemberViews        an epoch's rows, each to the view of its member, which SELECT reads
 *   who publishes          MemberChanges      an epoch's rows, each to the Audience of its member
 * </pre>
 *
 * <p>Entry: {@link dev.millrace.engine.group.GroupMembers}; {@code runtime} makes standing queries of members. Source:
 * Pluto, dissertation ch. 3: shared code (U3) and queries of one code that are scheduled together (U4).
 */
package dev.millrace.engine.group;
