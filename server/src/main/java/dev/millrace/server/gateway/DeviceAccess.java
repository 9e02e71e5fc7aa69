package dev.millrace.server.gateway;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.role.LoginCheck;
import dev.millrace.server.role.ScramSecret;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.Session;
import java.util.Optional;

/** Who may send what: a device logs in as a role, and needs INSERT on the streams that it sends to. Any thread; takes milliseconds. */
final class DeviceAccess {
    private final Database database;
    private final Authentication authentication;

    DeviceAccess(Database database, Authentication authentication) {
        this.database = database;
        this.authentication = authentication;
    }

    /**
     * Lets a device in.
     *
     * @throws MillraceException 28P01 if the token is wrong, 28000 if the role may not log in, or has no device of this name
     */
    void admit(String user, String token, String device) {
        if (authentication instanceof Authentication.Scram required) {
            Optional<ScramSecret> secret = required.secrets().apply(user);
            // A role that does not exist is answered no sooner than a wrong token.
            boolean fits = secret.orElseGet(() -> required.decoys().of(user)).matches(token);
            if (!fits || secret.isEmpty()) {
                throw MillraceException.user(
                        SqlState.INVALID_PASSWORD, "the token of role \"" + user + "\" is not the one that it has");
            }
        }
        if (!device.equals(user) && !device.startsWith(user + "/")) {
            throw MillraceException.user(
                    SqlState.INVALID_AUTHORIZATION,
                    "role \"" + user + "\" has devices \"" + user + "\" and \"" + user + "/..\", and not \"" + device
                            + "\"");
        }
        mayLogIn(user);
    }

    /** @throws MillraceException 28000 if it may not, or not any more */
    void mayLogIn(String user) {
        LoginCheck.admit(database.catalog().roles(), user, 0);
    }

    /** @throws MillraceException 42501 if it may not, or not any more */
    void mayInsert(String user, String stream) {
        try (Session session = database.session(user)) {
            session.requireInsert(stream);
        }
    }
}
