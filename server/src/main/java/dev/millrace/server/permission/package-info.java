/**
 * Who a session is, and what it may do.
 *
 * <p>Entry: {@link dev.millrace.server.permission.Identity}, {@link dev.millrace.server.permission.Permissions}, asked once
 * for each statement, and {@link dev.millrace.server.permission.RoleStatements} (CREATE ROLE to REVOKE) and {@link
 * dev.millrace.server.permission.SecretDefinitions}. What there is of roles and
 * privileges is {@code server.role}.
 */
package dev.millrace.server.permission;
