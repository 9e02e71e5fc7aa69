/**
 * Who may do what: roles, which role is a member of which, owners, and access lists.
 *
 * <p>Entry: {@link dev.millrace.server.role.Roles}, which the database's catalog holds; safe on any thread, and reading takes
 * no lock. Names only: what a privilege is needed for is decided in one place, {@code session.Permissions}.
 *
 * <p>What is here is kept by its text: {@link dev.millrace.server.role.Roles#definitions} gives the statements (CREATE ROLE with
 * verifiers instead of passwords, ALTER ROLE ... SET, GRANT role) that make the same roles in an empty database, and {@link
 * dev.millrace.server.role.Roles#privilegeDefinitions} those (ALTER ... OWNER TO, GRANT, REVOKE) to be run once the objects are
 * there. Both are secrets, since a verifier can be tried against guesses.
 */
package dev.millrace.server.role;
