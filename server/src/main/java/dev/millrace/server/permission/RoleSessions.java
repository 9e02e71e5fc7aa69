package dev.millrace.server.permission;

/** The sessions of a database, as far as a change of roles concerns them. Safe on any thread. */
public interface RoleSessions {
    /** Whether a session came in as this role. */
    boolean hasLogin(String role);

    /** A role is gone: ends the sessions that came in as it or are it now. */
    void dropped(String role);
}
