package dev.millrace.connectors.webhook;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * How a request shows that who sent it knows a secret: a header with the HMAC-SHA256 of its body (RFC 2104), in hexadecimal digits or Base64, perhaps
 * behind {@code sha256=}.
 *
 * @param secret a reference, which is looked up for each request
 */
record BodySignature(String header, String secret, Options.References references) {
    private static final String ALGORITHM = "HmacSHA256";
    private static final String PREFIX = "sha256=";

    static Optional<BodySignature> read(Options options) {
        Optional<String> secret = options.text("signature.secret");
        String header = options.text("signature.header", "x-hub-signature-256").toLowerCase(Locale.ROOT);
        secret.ifPresent(text -> Options.OpenSecret.refuse("signature.secret", text));
        return secret.map(given -> new BodySignature(header, given, options.references()));
    }

    /** @throws MillraceException 28000 if the request has none, or another one */
    void require(PostedRequest request) {
        String given = request.header(header)
                .orElseThrow(() -> MillraceException.user(
                        SqlState.INVALID_AUTHORIZATION, "header " + header + " with a signature is needed"));
        byte[] expected = mac(request.body());
        if (!MessageDigest.isEqual(expected, decoded(given))) {
            throw MillraceException.user(
                    SqlState.INVALID_AUTHORIZATION, "the signature in header " + header + " is not that of the body");
        }
    }

    private byte[] mac(byte[] body) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            byte[] key = references.resolve(secret).getBytes(StandardCharsets.UTF_8);
            mac.init(new SecretKeySpec(key.length == 0 ? new byte[1] : key, ALGORITHM));
            return mac.doFinal(body);
        } catch (GeneralSecurityException e) {
            throw MillraceException.internal("every Java has " + ALGORITHM, e);
        }
    }

    /** Bytes of another length if it is neither. */
    private static byte[] decoded(String given) {
        String text = given.strip();
        text = text.startsWith(PREFIX) ? text.substring(PREFIX.length()) : text;
        try {
            return text.matches("[0-9a-fA-F]{64}")
                    ? HexFormat.of().parseHex(text)
                    : Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            return new byte[0];
        }
    }
}
