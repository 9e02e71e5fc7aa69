package dev.millrace.connectors.s3;

import dev.millrace.testing.s3.S3Server;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A server for the tests of a class, each of which has a prefix of its own. */
final class SharedServer implements BeforeAllCallback, AfterAllCallback {
    private final AtomicInteger prefixes = new AtomicInteger();
    private S3Server server;

    @Override
    public void beforeAll(ExtensionContext context) {
        server = new S3Server();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        server.close();
    }

    S3Server server() {
        return server;
    }

    /** An outside with nothing in it. */
    S3Outside outside(String format, String... more) {
        return new S3Outside(server, "of-" + prefixes.incrementAndGet() + "/", format, more);
    }
}
