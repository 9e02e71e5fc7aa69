package dev.millrace.server.role;

import java.security.SecureRandom;

/**
 * What stands in for the secrets of roles that do not exist: of a name always the same, as a real one's salt is, and not to be
 * told from it without this server's key, which lives as long as the object. Safe on any thread.
 */
public final class ScramDecoys {
    private static final int KEY_BYTES = 32;

    private final byte[] key = new byte[KEY_BYTES];

    public ScramDecoys() {
        new SecureRandom().nextBytes(key);
    }

    /** A secret that no password fits. */
    public ScramSecret of(String role) {
        return ScramSecret.decoy(key, role);
    }
}
