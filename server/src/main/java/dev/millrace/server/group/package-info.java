/**
 * Which standing queries share what runs them, as they differ in literals alone. Nothing that a user sees of a query depends on it, nothing of it is kept: a database that is
 * opened again finds the same by making the queries again.
 *
 * <p>Entry: {@link dev.millrace.server.group.QueryGroups}, asked when a query is made, and {@link dev.millrace.server.group.KnownForms}, asked before
 * its text is parsed. Source: Pluto, dissertation ch. 3 (U3, U4).
 */
package dev.millrace.server.group;
