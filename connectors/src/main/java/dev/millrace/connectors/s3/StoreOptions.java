package dev.millrace.connectors.s3;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Optional;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;

/**
 * Which store, and who asks: the options {@code s3.*}. Immutable; secrets are looked up for each request.
 *
 * @param endpoint of a store that is not Amazon's
 * @param pathStyle whether the bucket is a part of the path and not of the host's name
 * @param keyId as it was written, with references; so are the others
 * @param references closed over by whoever made the options
 */
public record StoreOptions(
        Optional<URI> endpoint,
        String region,
        boolean pathStyle,
        Optional<String> keyId,
        Optional<String> secret,
        Optional<String> token,
        Options.References references) {
    private static final String SECRET = "s3.secret_access_key";
    private static final String TOKEN = "s3.session_token";
    private static final String KEY_ID = "s3.access_key_id";
    private static final String ENDPOINT = "s3.endpoint";

    /** @throws dev.millrace.error.MillraceException 22023 for one that cannot be */
    public static StoreOptions read(Options options) {
        Optional<URI> endpoint = options.text(ENDPOINT).map(StoreOptions::address);
        Optional<String> keyId = options.text(KEY_ID);
        Optional<String> secret = options.text(SECRET);
        Optional<String> token = options.text(TOKEN);
        secret.ifPresent(text -> Options.OpenSecret.refuse(SECRET, text));
        token.ifPresent(text -> Options.OpenSecret.refuse(TOKEN, text));
        if (keyId.isPresent() != secret.isPresent()) {
            throw Options.invalid(
                    keyId.isPresent() ? SECRET : KEY_ID, "", "given where the other of both is, or neither is");
        }
        if (token.isPresent() && keyId.isEmpty()) {
            throw Options.invalid(KEY_ID, "", "given where " + TOKEN + " is");
        }
        return new StoreOptions(
                endpoint,
                options.text("s3.region", "us-east-1"),
                options.bool("s3.path_style", endpoint.isPresent()),
                keyId,
                secret,
                token,
                options.references());
    }

    private static URI address(String text) {
        Options.OpenSecret.refuseInAddress(ENDPOINT, text);
        try {
            URI address = new URI(text);
            if (("http".equals(address.getScheme()) || "https".equals(address.getScheme()))
                    && address.getHost() != null) {
                return address;
            }
        } catch (URISyntaxException e) {
            // falls through to the one message for both
        }
        throw Options.invalid(ENDPOINT, text, "an address such as https://minio.example:9000");
    }

    /** Descriptions of the options that are read here. */
    public static List<OptionDescription> descriptions() {
        return List.of(
                new OptionDescription(ENDPOINT, "Amazon's", "s3: the store's address, http:// or https://"),
                new OptionDescription("s3.region", "us-east-1", "s3: the bucket's region"),
                new OptionDescription(
                        "s3.path_style",
                        "true with an endpoint",
                        "s3: whether the bucket is named in the path, and not in the host's name"),
                new OptionDescription(
                        KEY_ID, "", "s3: who asks; without one, requests are not signed, which public buckets take"),
                new OptionDescription(SECRET, "", "s3: a reference, such as ${secret:name}"),
                new OptionDescription(TOKEN, "", "s3: of credentials that are lent, a reference"));
    }

    AwsCredentialsProvider credentials() {
        return keyId.isEmpty() ? AnonymousCredentialsProvider.create() : this::resolved;
    }

    private AwsCredentials resolved() {
        String id = references.resolve(keyId.orElseThrow());
        String key = references.resolve(secret.orElseThrow());
        return token.isPresent()
                ? AwsSessionCredentials.create(id, key, references.resolve(token.get()))
                : AwsBasicCredentials.create(id, key);
    }

    /** For users. */
    String where() {
        return endpoint.map(URI::toString).orElse("S3 in " + region);
    }
}
