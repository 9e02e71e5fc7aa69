package dev.millrace.server.pgwire;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;

/** The client's proof of SCRAM-SHA-256 (RFC 5802, section 3), written apart from the server's code, which it checks. */
final class ScramProof {
    private static final Map<String, byte[]> SALTED = new ConcurrentHashMap<>(); // thousands of rounds each

    private ScramProof() {}

    static byte[] of(String password, String serverFirst, String authMessage) {
        String[] parts = serverFirst.split(",");
        byte[] salt = Base64.getDecoder().decode(parts[1].substring(2));
        int rounds = Integer.parseInt(parts[2].substring(2));
        try {
            byte[] salted = SALTED.computeIfAbsent(password + parts[1], key -> salted(password, salt, rounds));
            byte[] clientKey = hmac(salted, "Client Key");
            byte[] signature = hmac(MessageDigest.getInstance("SHA-256").digest(clientKey), authMessage);
            for (int i = 0; i < signature.length; i++) {
                signature[i] ^= clientKey[i];
            }
            return signature;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] salted(String password, byte[] salt, int rounds) {
        try {
            return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
                    .generateSecret(new PBEKeySpec(password.toCharArray(), salt, rounds, 256))
                    .getEncoded();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] hmac(byte[] key, String text) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal(text.getBytes(StandardCharsets.US_ASCII));
    }
}
