package dev.millrace.server.role;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.statement.Statement.RoleAttribute;
import dev.millrace.sql.text.Identifiers;

/** Whether a role may have one more session, with PostgreSQL's answers when not. */
public final class LoginCheck {
    private LoginCheck() {}

    /**
     * For a client that has proved who it is, or need not.
     *
     * @param sessions that the role has already
     * @throws MillraceException 28000 if there is no such role or it may not log in; 53300 if it has too many sessions
     */
    public static Role admit(Roles roles, String name, long sessions) {
        Role role = roles.find(name)
                .orElseThrow(() -> MillraceException.user(
                                SqlState.INVALID_AUTHORIZATION, "role \"" + name + "\" does not exist")
                        .withHint("connect as the owner with -U " + Roles.OWNER + ", who can CREATE ROLE "
                                + Identifiers.quote(name) + " LOGIN"));
        if (!role.is(RoleAttribute.LOGIN)) {
            throw MillraceException.user(
                    SqlState.INVALID_AUTHORIZATION, "role \"" + name + "\" is not permitted to log in");
        }
        if (role.connectionLimit() >= 0 && !role.isSuperuser() && sessions >= role.connectionLimit()) {
            throw MillraceException.resources(
                    SqlState.TOO_MANY_CONNECTIONS, "too many connections for role \"" + name + "\"");
        }
        return role;
    }
}
