package dev.millrace.server.permission;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.role.Roles;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;

/**
 * Who a session is: the role that came in, the one of SET SESSION AUTHORIZATION, and the one of SET ROLE, as which statements
 * run. Changed by the session's thread, read by any.
 */
public final class Identity {
    private final Roles roles;
    private final SessionSettings settings;
    private final String login;
    private volatile String session; // written by the session's thread, read by all
    private volatile String current; // written by the session's thread, read by all

    public Identity(Roles roles, SessionSettings settings, String login) {
        this.roles = roles;
        this.settings = settings;
        this.login = login;
        this.session = login;
        this.current = login;
        show();
    }

    /** Who came in. */
    public String login() {
        return login;
    }

    /** {@code session_user}. */
    public String session() {
        return session;
    }

    /** {@code current_user}, whose privileges count. */
    public String current() {
        return current;
    }

    /** Whether the session came in as this role, or is it now. */
    public boolean is(String role) {
        return login.equals(role) || session.equals(role) || current.equals(role);
    }

    public boolean isSuperuser() {
        return roles.isSuperuser(current);
    }

    /** A role of a statement, where CURRENT_USER and the like stand for oneself. */
    public String named(String name) {
        return switch (name) {
            case "current_user", "current_role" -> current;
            case "session_user" -> session;
            default -> name;
        };
    }

    /** SET ROLE: one that the session's role is a member of. */
    public void setRole(String role) {
        requireRole(role);
        if (!roles.isSuperuser(session) && !roles.isMember(session, role)) {
            throw MillraceException.user(
                    SqlState.INSUFFICIENT_PRIVILEGE, "permission denied to set role \"" + role + "\"");
        }
        current = role;
        show();
    }

    /** What is wrong is the value of a setting, as PostgreSQL has it. */
    private void requireRole(String role) {
        if (roles.find(role).isEmpty()) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "role \"" + role + "\" does not exist");
        }
    }

    /** SET ROLE NONE. */
    public void resetRole() {
        current = session;
        show();
    }

    /** SET SESSION AUTHORIZATION: for who came in as a superuser. */
    public void setSession(String role) {
        requireRole(role);
        if (!role.equals(login) && !roles.isSuperuser(login)) {
            throw MillraceException.user(
                    SqlState.INSUFFICIENT_PRIVILEGE, "permission denied to set session authorization");
        }
        session = role;
        resetRole();
    }

    /** SET SESSION AUTHORIZATION DEFAULT. */
    public void resetSession() {
        session = login;
        resetRole();
    }

    /** Puts what changed where SHOW finds it. */
    private void show() {
        settings.identify(Setting.SESSION_AUTHORIZATION, session);
        settings.identify(Setting.ROLE, current.equals(session) ? "none" : current);
        settings.identify(Setting.IS_SUPERUSER, isSuperuser() ? "on" : "off");
    }
}
