package dev.millrace.cli.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.Millrace;
import dev.millrace.server.device.EdgeStatus;
import dev.millrace.server.gateway.EdgeGateway;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.session.Database;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class SimulateCommandTest {
    private static int run(String... arguments) {
        return EdgeCommand.run(new CommandLine(EdgeCommand.spec()).parseArgs(arguments));
    }

    @Test
    void aFleetSendsAllThatItTakes() {
        try (Database database = Millrace.open()) {
            database.execute(
                    "CREATE STREAM sensors (time TIMESTAMPTZ, reading BIGINT, temperature DOUBLE PRECISION, state TEXT)"
                            + " WITH (connector = 'edge', include.device = 'device')");
            try (EdgeGateway gateway = EdgeGateway.listen(
                    database, new Authentication.Trust(), List.of("localhost"), 0, 10, Optional.empty())) {
                int code = run(
                        "simulate",
                        "--devices",
                        "5",
                        "--seconds",
                        "1",
                        "--every",
                        "10ms",
                        "--server",
                        "localhost:" + gateway.port());
                assertEquals(0, code);
            }
            List<EdgeStatus> devices = database.edgeInlets().status();
            assertEquals(
                    List.of("millrace/1", "millrace/2", "millrace/3", "millrace/4", "millrace/5"),
                    devices.stream().map(EdgeStatus::device).toList());
            for (EdgeStatus device : devices) {
                assertTrue(device.kept().rows() > 10, device.kept() + " in a second");
            }
        }
    }

    @Test
    void whatCannotBeIsSaid() {
        assertEquals(1, run("simulate", "--devices", "0"));
        assertEquals(1, run("simulate", "--devices", "1", "--error", "much"));
        assertEquals(2, run("--check"), "without a configuration");
    }
}
