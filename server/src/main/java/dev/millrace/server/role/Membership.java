package dev.millrace.server.role;

/**
 * That a role has what another was granted.
 *
 * @param role whose privileges they are
 * @param member who has them
 * @param admin whether the member may grant the role to others
 */
public record Membership(String role, String member, String grantor, boolean admin) {}
