package dev.millrace.server.config;

import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.expressions.python.PythonOptions;
import dev.millrace.server.log.LogOptions;
import dev.millrace.server.tls.TlsOptions;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * All that a server is started with; {@code reference.conf} says what each option means.
 *
 * @param data where definitions and the rows of tables are kept; none for a database in memory
 * @param addresses names or addresses of interfaces to listen on
 * @param port for PostgreSQL clients; 0 for any that is free
 * @param edgePort for devices; 0 for any that is free, -1 for none
 * @param edgeBroker by which devices send, too
 * @param python for functions in it
 * @param stopTimeout for statements under way when the server is told to stop
 */
public record ServerConfig(
        Optional<Path> data,
        List<String> addresses,
        int port,
        Http http,
        int edgePort,
        Optional<EdgeBroker> edgeBroker,
        TlsOptions tls,
        Auth auth,
        Limits limits,
        EngineOptions engine,
        PythonOptions python,
        LogOptions log,
        Duration stopTimeout) {
    public ServerConfig {
        addresses = List.copyOf(addresses);
    }

    /**
     * The second port.
     *
     * @param port 0 for any that is free; -1 for the one after that of PostgreSQL clients
     * @param mostRows of one answer; 0 for any number
     * @param corsOrigin whose pages may use the API; none without, {@code *} for any
     */
    public record Http(
            boolean enabled,
            int port,
            long mostBodyBytes,
            long mostRows,
            Optional<String> corsOrigin,
            HttpLimits limits) {}

    /** How clients prove who they are. */
    public enum AuthMethod {
        AUTO,
        TRUST,
        PASSWORD
    }

    /** @param timeout until when a client has to have done so */
    public record Auth(AuthMethod method, Duration timeout) {}

    /** What clients may ask for. */
    public record Limits(int connections, int messageBytes) {}

    /** Whether nobody but this machine can connect. */
    public boolean loopbackOnly() {
        return addresses.stream().allMatch(ServerConfig::isLoopback);
    }

    private static boolean isLoopback(String address) {
        try {
            return !address.equals("*") && InetAddress.getByName(address).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }
}
