package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.server.role.ScramSecret;
import java.util.Base64;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a client can learn of a role before it has shown that it is one. */
class ScramExchangeTest {
    private static final ScramSecret SECRET = ScramSecret.of("right");

    private final Authentication.Scram server =
            new Authentication.Scram(role -> role.equals("ann") ? Optional.of(SECRET) : Optional.empty());

    /** Salt and iterations, without the nonce, which is new each time. */
    private static String asked(Authentication.Scram server, String role) {
        String first = new ScramExchange(role, server, Optional.empty()).first("SCRAM-SHA-256", "n,,n=,r=abc");
        return first.substring(first.indexOf(",s="));
    }

    @Test
    void aRoleThatDoesNotExistHasASaltThatStays() {
        assertEquals(asked(server, "ann"), asked(server, "ann"));
        assertEquals(asked(server, "nobody"), asked(server, "nobody"));
        assertNotEquals(asked(server, "nobody"), asked(server, "nobody2"));
        assertEquals(asked(server, "ann").length(), asked(server, "nobody").length());
    }

    @Test
    void theSaltIsNotToBeComputedByWhoDoesNotKnowTheServersKey() {
        assertNotEquals(asked(server, "nobody"), asked(new Authentication.Scram(role -> Optional.empty()), "nobody"));
    }

    @Test
    void aRoleThatDoesNotExistIsRefusedAsAWrongPasswordIs() {
        for (String role : new String[] {"ann", "nobody"}) {
            ScramExchange exchange = new ScramExchange(role, server, Optional.empty());
            String first = exchange.first("SCRAM-SHA-256", "n,,n=,r=abc");
            String nonce = first.substring(0, first.indexOf(",s="));
            String proof = Base64.getEncoder().encodeToString(new byte[32]);
            MillraceException error =
                    assertThrows(MillraceException.class, () -> exchange.last("c=biws," + nonce + ",p=" + proof));
            assertEquals("password authentication failed for user \"" + role + "\"", error.getMessage());
        }
    }
}
