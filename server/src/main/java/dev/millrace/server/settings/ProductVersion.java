package dev.millrace.server.settings;

/** Which version this is; a test holds it to what Maven builds. */
public final class ProductVersion {
    public static final String TEXT = "0.1.0-SNAPSHOT";

    private ProductVersion() {}
}
