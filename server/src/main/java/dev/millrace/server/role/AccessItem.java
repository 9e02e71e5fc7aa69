package dev.millrace.server.role;

import dev.millrace.sql.statement.Privilege;

/**
 * One privilege of one role on one object.
 *
 * @param grantee empty for PUBLIC
 * @param grantable whether the grantee may grant it to others
 */
public record AccessItem(String grantee, String grantor, Privilege privilege, boolean grantable) {}
