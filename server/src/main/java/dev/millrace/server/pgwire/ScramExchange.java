package dev.millrace.server.pgwire;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.role.ScramSecret;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The server's side of SCRAM-SHA-256 (RFC 5802, sections 5 to 7), over TLS with channel binding if the client wants.
 *
 * <pre>
 *   first(client-first)  -> server-first          who, and nonces
 *   last(client-final)   -> server-final          proofs; fails when the password is wrong
 * </pre>
 *
 * Channel binding shows both sides that nobody is between them who has another certificate. A client that would have bound
 * but was not offered it says so ({@code y}), by which somebody who cut the offer out is found.
 *
 * <p>A role that does not exist goes through the same steps, with a salt that stays the same, so that nobody learns which do.
 */
final class ScramExchange {
    private static final String PLAIN = "SCRAM-SHA-256";
    private static final String BOUND = "SCRAM-SHA-256-PLUS";
    private static final String BINDING = "p=tls-server-end-point,";
    private static final int NONCE_BYTES = 18;

    private final String role;
    private final Optional<ScramSecret> secret;
    private final ScramSecret checked;
    private final Optional<byte[]> endPoint;
    private final String serverNonce;
    private String clientFirstBare = "";
    private String header = "";
    private String nonce = "";
    private String serverFirst = "";
    private boolean bound;

    /** @param endPoint what the exchange can be bound to, over TLS */
    ScramExchange(String role, Authentication.Scram required, Optional<byte[]> endPoint) {
        this.endPoint = endPoint;
        this.role = role;
        this.secret = required.secrets().apply(role);
        this.checked = secret.orElseGet(() -> required.decoys().of(role));
        byte[] random = new byte[NONCE_BYTES];
        new SecureRandom().nextBytes(random);
        this.serverNonce = Base64.getEncoder().encodeToString(random);
    }

    /** Those a client may choose from, the best first. */
    List<String> mechanisms() {
        return endPoint.isPresent() ? List.of(BOUND, PLAIN) : List.of(PLAIN);
    }

    String first(String mechanism, String clientFirst) {
        int bare = clientFirst.indexOf(',', clientFirst.indexOf(',') + 1) + 1;
        if (bare < 2) {
            throw malformed();
        }
        if (clientFirst.startsWith("y,") && endPoint.isPresent()) {
            throw MillraceException.user(
                    SqlState.INVALID_AUTHORIZATION,
                    "the client supports SCRAM channel binding but thinks the server does not; this server does");
        }
        bound = mechanism.equals(BOUND);
        boolean asMechanismSays =
                bound ? clientFirst.startsWith(BINDING) : clientFirst.startsWith("n,") || clientFirst.startsWith("y,");
        if (!asMechanismSays) {
            throw malformed();
        }
        header = clientFirst.substring(0, bare);
        clientFirstBare = clientFirst.substring(bare);
        nonce = attributes(clientFirstBare).getOrDefault('r', "") + serverNonce;
        serverFirst = "r=" + nonce + ",s=" + Base64.getEncoder().encodeToString(checked.salt()) + ",i="
                + checked.iterations();
        return serverFirst;
    }

    String last(String clientFinal) {
        int proofAt = clientFinal.lastIndexOf(",p=");
        if (proofAt < 0) {
            throw malformed();
        }
        Map<Character, String> attributes = attributes(clientFinal.substring(0, proofAt));
        if (!nonce.equals(attributes.get('r'))) {
            throw malformed();
        }
        if (!binding().equals(attributes.get('c'))) {
            throw bound
                    ? MillraceException.user(
                            SqlState.INVALID_AUTHORIZATION,
                            "SCRAM channel binding check failed: somebody may be between client and server")
                    : malformed();
        }
        String authMessage = clientFirstBare + "," + serverFirst + "," + clientFinal.substring(0, proofAt);
        byte[] proof;
        try {
            proof = Base64.getDecoder().decode(clientFinal.substring(proofAt + 3));
        } catch (IllegalArgumentException e) {
            throw malformed();
        }
        if (!checked.accepts(proof, authMessage) || secret.isEmpty()) {
            throw refused(role);
        }
        return "v=" + Base64.getEncoder().encodeToString(checked.serverSignature(authMessage));
    }

    private String binding() {
        byte[] start = header.getBytes(StandardCharsets.UTF_8);
        byte[] end = bound ? endPoint.orElseThrow() : new byte[0];
        byte[] all = Arrays.copyOf(start, start.length + end.length);
        System.arraycopy(end, 0, all, start.length, end.length);
        return Base64.getEncoder().encodeToString(all);
    }

    static MillraceException refused(String role) {
        return MillraceException.user(
                SqlState.INVALID_PASSWORD, "password authentication failed for user \"" + role + "\"");
    }

    private static Map<Character, String> attributes(String message) {
        Map<Character, String> attributes = new HashMap<>();
        for (String attribute : message.split(",")) {
            if (attribute.length() >= 2 && attribute.charAt(1) == '=') {
                attributes.put(attribute.charAt(0), attribute.substring(2));
            }
        }
        return attributes;
    }

    private static MillraceException malformed() {
        return MillraceException.user(SqlState.PROTOCOL_VIOLATION, "malformed SCRAM message");
    }
}
