package dev.millrace.benchmarks.wire;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ./millrace bench wire [CASE...]}: one JSON line per result on stdout. */
@Command(
        name = "wire",
        description =
                "Measures a server of PostgreSQL's protocol on this machine: a Millrace started for it, or --port.",
        mixinStandardHelpOptions = true)
public final class WireCommand implements Callable<Integer> {
    private static final int CONNECTIONS = 1100;

    @Parameters(paramLabel = "CASE", description = "Which: ${COMPLETION-CANDIDATES}; all by default.", arity = "0..*")
    private List<WireCase> cases = List.of(WireCase.values());

    @Option(names = "--port", description = "Of a server that runs on this machine and asks for no password.")
    private @Nullable Integer port; // null: one is started

    @Option(names = "--user", defaultValue = "millrace", description = "Role and database (default: ${DEFAULT-VALUE}).")
    private String user;

    @Option(names = "--postgresql", description = "The server is PostgreSQL: rows go into a table, with no view on it.")
    private boolean postgresql;

    @Option(names = "--rows", defaultValue = "2000000", description = "Of a COPY (default: ${DEFAULT-VALUE}).")
    private long rows;

    @Option(
            names = "--seconds",
            defaultValue = "5",
            description = "How long statements are repeated (default: ${DEFAULT-VALUE}).")
    private double seconds;

    @Override
    public Integer call() throws IOException, InterruptedException {
        try (Peer peer = port == null ? Peer.start(CONNECTIONS) : Peer.at(port)) {
            WireBenchmark benchmark = new WireBenchmark(peer, user, postgresql, rows, seconds, System.out::println);
            for (WireCase what : cases) {
                if (what.isCommon() || !postgresql) {
                    benchmark.run(what);
                }
            }
        }
        return 0;
    }
}
