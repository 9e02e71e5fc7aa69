package dev.millrace.server.pgwire;

import dev.millrace.server.role.ScramDecoys;
import dev.millrace.server.role.ScramSecret;
import java.util.Optional;
import java.util.function.Function;

/** How a client proves who it is. */
public sealed interface Authentication {

    /** The client need not prove anything. */
    record Trust() implements Authentication {}

    /**
     * By a password, which never travels (SCRAM-SHA-256, RFC 5802 and 7677).
     *
     * @param secrets what is known of a role's password, {@code database::secretOf}; empty for a role that does not exist
     * @param decoys what is checked instead, so that nobody learns which roles exist
     */
    record Scram(Function<String, Optional<ScramSecret>> secrets, ScramDecoys decoys) implements Authentication {
        /** With decoys of its own. */
        public Scram(Function<String, Optional<ScramSecret>> secrets) {
            this(secrets, new ScramDecoys());
        }
    }
}
