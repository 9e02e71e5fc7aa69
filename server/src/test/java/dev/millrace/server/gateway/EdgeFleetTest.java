package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.edge.agent.Fleet;
import dev.millrace.edge.config.EdgeConfig;
import dev.millrace.edge.config.EdgeConfigFile;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many devices at once. */
class EdgeFleetTest {
    private static final int DEVICES = 60;

    @TempDir
    private Path directory;

    private TestDatabase server;
    private EdgeGateway gateway;

    private List<EdgeConfig> devices(int port) {
        List<EdgeConfig> devices = new ArrayList<>();
        for (int i = 1; i <= DEVICES; i++) {
            devices.add(EdgeConfigFile.parse("""
                    device = "millrace/%d", data = "%s", commit = 50ms, status = 100ms
                    server { address = "localhost:%d", token = secret, tls = false }
                    streams { sensors {
                      input { type = sensor, every = 2ms, seed = %d }
                      sketch { segment = 300ms }
                    } }
                    """.formatted(i, directory.resolve("d" + i), port, i), "test"));
        }
        return devices;
    }

    @Test
    void aFleetLosesNothingWhileTheServerBeginsAgainAndIsSteeredFromItsNextSegmentOn() {
        begin(0);
        server.run("CREATE STREAM sensors (time TIMESTAMPTZ, reading BIGINT, temperature DOUBLE PRECISION, state TEXT)"
                + " WITH (connector = 'edge', include.device = 'device')");
        server.run("CREATE MATERIALIZED VIEW seen AS SELECT device, count(*) AS n, count(DISTINCT reading) AS readings,"
                + " max(reading) AS last FROM sensors GROUP BY device");
        try (BufferAllocator allocator = new RootAllocator();
                Fleet fleet = new Fleet(devices(gateway.port()), 2, allocator)) {
            Eventually.holds("rows of all come", () -> one("SELECT count(*) FROM seen") == DEVICES);
            int port = gateway.port();
            end();
            begin(port);
            server.run("ALTER STREAM sensors EDGE ALL SET (sample = 1000000)");
            Eventually.holds(
                    "all have the settings",
                    () -> one("SELECT count(*) FROM millrace.edges WHERE settings_done AND connected") == DEVICES);
            fleet.finish();
            Eventually.holds("all is sent", () -> fleet.status().done());
            assertEquals(Optional.empty(), fleet.status().problem());
            long rows = fleet.status().rows();
            assertEquals(rows, one("SELECT sum(n)::bigint FROM seen"));
            assertEquals(rows, one("SELECT sum(readings)::bigint FROM seen"), "each once");
            // A device took all readings of its sensor until it had the settings, and of those behind them one or none.
            assertEquals(0, one("SELECT count(*) FROM seen WHERE last + 1 < n"));
            assertTrue(one("SELECT count(*) FROM seen WHERE last + 1 = n") > 0);
        } finally {
            end();
        }
    }

    private void begin(int port) {
        server = new TestDatabase(directory.resolve("db"));
        gateway = EdgeGateway.listen(
                server.database(), new Authentication.Trust(), List.of("localhost"), port, 100, Optional.empty());
    }

    private void end() {
        gateway.close();
        server.close();
    }

    private long one(String sql) {
        return Long.parseLong(server.flushedRows(sql).get(0));
    }
}
