package dev.millrace.server.pgwire;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The server's side of SCRAM-SHA-256 without channel binding (RFC 5802, sections 5 and 7).
 *
 * <pre>
 *   first(client-first)  -> server-first          who, and nonces
 *   last(client-final)   -> server-final          proofs; fails when the password is wrong
 * </pre>
 *
 * A role that does not exist goes through the same steps, so that nobody learns which do.
 */
final class ScramExchange {
    static final String MECHANISM = "SCRAM-SHA-256";
    private static final int NONCE_BYTES = 18;

    private final String role;
    private final Optional<ScramSecret> secret;
    private final ScramSecret checked;
    private final String serverNonce;
    private String clientFirstBare = "";
    private String header = "";
    private String nonce = "";
    private String serverFirst = "";

    ScramExchange(String role, Optional<ScramSecret> secret) {
        this.role = role;
        this.secret = secret;
        this.checked = secret.orElseGet(() -> ScramSecret.of(""));
        byte[] random = new byte[NONCE_BYTES];
        new SecureRandom().nextBytes(random);
        this.serverNonce = Base64.getEncoder().encodeToString(random);
    }

    String first(String clientFirst) {
        int bare = clientFirst.indexOf(',', clientFirst.indexOf(',') + 1) + 1;
        if (bare < 2 || !(clientFirst.startsWith("n,") || clientFirst.startsWith("y,"))) {
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
        String binding = Base64.getEncoder().encodeToString(header.getBytes(StandardCharsets.UTF_8));
        if (!nonce.equals(attributes.get('r')) || !binding.equals(attributes.get('c'))) {
            throw malformed();
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
