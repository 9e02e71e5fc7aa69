package dev.millrace.server.role;

import java.security.SecureRandom;

/**
 * What stands in for the secrets of roles that do not exist: of a name always the same, as a real one's salt is, and not to be
 * told from it without this server's key, which lives as long as the object or, where it is kept, longer. Safe
 * on any thread.
 */
public final class ScramDecoys {
    /** How long a key is. */
    public static final int KEY_BYTES = 32;

    private final byte[] key;

    /** With a key of its own. */
    public ScramDecoys() {
        this(newKey());
    }

    /** With a key that is kept, so that an unknown role's salt stays from one start to the next as a real one's does. */
    public ScramDecoys(byte[] key) {
        this.key = key.clone();
    }

    private static byte[] newKey() {
        byte[] key = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(key);
        return key;
    }

    /** A secret that no password fits. */
    public ScramSecret of(String role) {
        return ScramSecret.decoy(key, role);
    }
}
