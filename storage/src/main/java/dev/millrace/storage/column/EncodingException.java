package dev.millrace.storage.column;

/** Bytes that no column was encoded to. Who knows where they are from tells the user. */
public final class EncodingException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public EncodingException(String message) {
        super(message);
    }
}
