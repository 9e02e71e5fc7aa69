package dev.millrace.connectors.s3;

import dev.millrace.connector.Options;

/**
 * Where an object is. Immutable.
 *
 * @param key within the bucket, as it is stored
 */
public record ObjectName(String bucket, String key) {
    static final String SCHEME = "s3://";

    /** Whether a path is one of objects. */
    public static boolean isOne(String path) {
        return path.startsWith(SCHEME);
    }

    /** An object below this one, as if it was a directory: with "/" at its end, or the whole bucket. */
    public ObjectName below(String relative) {
        return new ObjectName(bucket, key + relative);
    }

    /**
     * Reads {@code s3://bucket/key}.
     *
     * @throws dev.millrace.error.MillraceException 22023 if that is not what it is
     */
    public static ObjectName of(String path) {
        int slash = path.indexOf('/', SCHEME.length());
        String bucket = !isOne(path) ? "" : path.substring(SCHEME.length(), slash < 0 ? path.length() : slash);
        if (bucket.isEmpty() || slash < 0) {
            throw Options.invalid("path", path, "s3://BUCKET/KEY");
        }
        return new ObjectName(bucket, path.substring(slash + 1));
    }

    @Override
    public String toString() {
        return SCHEME + bucket + "/" + key;
    }
}
