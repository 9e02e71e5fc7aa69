package dev.millrace.testing.connector;

import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkHome;
import dev.millrace.time.Clock;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** What a sink named {@code out} is lent in a test, by the machine's clock. */
public record TestSinkContext(BufferAllocator allocator, Clock clock, String name, Optional<SinkHome> home)
        implements SinkContext {
    /** Without a data directory. */
    public TestSinkContext(BufferAllocator allocator) {
        this(allocator, Clock.system(), "out", Optional.empty());
    }

    /** With a directory of the sink's own, and a name of the database that the caller makes up. */
    public TestSinkContext(BufferAllocator allocator, String database, Path directory) {
        this(allocator, Clock.system(), "out", Optional.of(new SinkHome(database, 7, directory)));
    }
}
