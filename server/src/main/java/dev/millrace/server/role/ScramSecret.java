package dev.millrace.server.role;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * What a server keeps of a password (RFC 5802, section 3): enough to check it, not enough to use it. Immutable; its text is
 * the form that PostgreSQL keeps in {@code pg_authid}, and is a secret.
 */
public final class ScramSecret {
    private static final int ITERATIONS = 4096;
    private static final int SALT_BYTES = 16;
    private static final int KEY_BITS = 256;

    private final byte[] salt;
    private final int iterations;
    private final byte[] storedKey;
    private final byte[] serverKey;

    private ScramSecret(byte[] salt, int iterations, byte[] storedKey, byte[] serverKey) {
        this.salt = salt;
        this.iterations = iterations;
        this.storedKey = storedKey;
        this.serverKey = serverKey;
    }

    /** With a salt of its own. */
    public static ScramSecret of(String password) {
        byte[] salt = new byte[SALT_BYTES];
        new SecureRandom().nextBytes(salt);
        return of(password, salt, ITERATIONS);
    }

    public static ScramSecret of(String password, byte[] salt, int iterations) {
        try {
            String prepared = Normalizer.normalize(password, Normalizer.Form.NFKC);
            byte[] salted = SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
                    .generateSecret(new PBEKeySpec(prepared.toCharArray(), salt, iterations, KEY_BITS))
                    .getEncoded();
            byte[] clientKey = hmac(salted, "Client Key");
            return new ScramSecret(
                    salt.clone(),
                    iterations,
                    MessageDigest.getInstance("SHA-256").digest(clientKey),
                    hmac(salted, "Server Key"));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has SHA-256 and PBKDF2", e);
        }
    }

    /** For a role that is not there; see {@link ScramDecoys}. Of no password, so that it is made as fast as a kept one is found. */
    static ScramSecret decoy(byte[] key, String role) {
        return new ScramSecret(
                Arrays.copyOf(hmac(key, "salt " + role), SALT_BYTES),
                ITERATIONS,
                hmac(key, "stored key " + role),
                hmac(key, "server key " + role));
    }

    /** Reads what {@link #text} wrote. */
    public static ScramSecret parse(String text) {
        String[] parts = text.split("[$:]");
        if (parts.length != 5 || !parts[0].equals("SCRAM-SHA-256")) {
            throw new IllegalArgumentException("not a SCRAM-SHA-256 secret");
        }
        Base64.Decoder base64 = Base64.getDecoder();
        return new ScramSecret(
                base64.decode(parts[2]), Integer.parseInt(parts[1]), base64.decode(parts[3]), base64.decode(parts[4]));
    }

    /** {@code SCRAM-SHA-256$iterations:salt$storedKey:serverKey}. */
    public String text() {
        Base64.Encoder base64 = Base64.getEncoder();
        return "SCRAM-SHA-256$" + iterations + ":" + base64.encodeToString(salt) + "$"
                + base64.encodeToString(storedKey) + ":" + base64.encodeToString(serverKey);
    }

    public byte[] salt() {
        return salt.clone();
    }

    public int iterations() {
        return iterations;
    }

    /** Whether this is the password, for clients that show it (over HTTP). Takes milliseconds, on purpose. */
    public boolean matches(String password) {
        return MessageDigest.isEqual(of(password, salt, iterations).storedKey, storedKey);
    }

    /** Whether a client's proof shows that it knows the password. */
    public boolean accepts(byte[] proof, String authMessage) {
        byte[] signature = hmac(storedKey, authMessage);
        if (proof.length != signature.length) {
            return false;
        }
        byte[] clientKey = new byte[proof.length];
        for (int i = 0; i < proof.length; i++) {
            clientKey[i] = (byte) (proof[i] ^ signature[i]);
        }
        try {
            return MessageDigest.isEqual(MessageDigest.getInstance("SHA-256").digest(clientKey), storedKey);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /** What shows the client that the server knows the password as well. */
    public byte[] serverSignature(String authMessage) {
        return hmac(serverKey, authMessage);
    }

    private static byte[] hmac(byte[] key, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HmacSHA256", e);
        }
    }

    @Override
    public String toString() {
        return "ScramSecret";
    }
}
