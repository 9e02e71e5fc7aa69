package dev.millrace.server.storage;

import dev.millrace.server.log.EventLog;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.storage.disk.WholeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The file {@code server.address} of a data directory: where PostgreSQL's clients find the server that has it open, {@code HOST:PORT}. A hint
 * for programs on the same machine: of a server that was killed it is there still.
 */
public final class ServerAddress {
    public static final String NAME = "server.address";
    private static final EventLog LOG = EventLog.named("server");
    private static final int MOST_BYTES = 1 << 10;

    private ServerAddress() {}

    /** Says where the server of a directory listens. */
    public static void write(Path directory, String host, int port) {
        byte[] text = (host + ":" + port + "\n").getBytes(StandardCharsets.UTF_8);
        try {
            WholeFile.write(new RealDisk(directory), NAME, ByteBuffer.wrap(text));
        } catch (IOException e) {
            LOG.warning("cannot write " + NAME, "reason", String.valueOf(e.getMessage()));
        }
    }

    /** Where the server of a directory listens, or did; none where that is not said. */
    public static Optional<String> read(Path directory) throws IOException {
        if (!Files.exists(directory.resolve(NAME))) {
            return Optional.empty();
        }
        ByteBuffer bytes = WholeFile.read(RealDisk.readOnly(directory), NAME, MOST_BYTES);
        return Optional.of(StandardCharsets.UTF_8.decode(bytes).toString().strip());
    }

    /** The server ends. */
    public static void remove(Path directory) {
        try {
            Files.deleteIfExists(directory.resolve(NAME));
        } catch (IOException e) {
            LOG.warning("cannot remove " + NAME, "reason", String.valueOf(e.getMessage()));
        }
    }
}
