package dev.millrace.server.clients;

import static dev.millrace.server.clients.ClientPrograms.check;
import static dev.millrace.server.clients.ClientPrograms.installed;
import static dev.millrace.server.clients.ClientPrograms.program;
import static dev.millrace.server.clients.ClientPrograms.requireProgram;
import static dev.millrace.server.clients.ClientPrograms.step;

import dev.millrace.server.pgwire.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Drivers of other languages, each with a program in the test resources that uses most of what it can do. */
@Tag("long")
@Timeout(600) // the first time they are downloaded
class ClientsTest {
    private static final String[] PYTHON = {"psycopg[binary]==3.3.9", "sqlalchemy==2.1.9"};
    private static final String ASYNCPG = "asyncpg==0.32.0";
    private static final String[] NODE = {"pg@8.23.1", "pg-cursor@2.22.0", "pg-query-stream@4.17.0"};

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private String uri(String scheme) {
        return scheme + "://millrace@localhost:" + server.port() + "/millrace";
    }

    private Path python() throws Exception {
        requireProgram("python", "python3", "--version");
        Path folder = installed("python", String.join(" ", PYTHON), at -> {
            var failure = step(at, "python3", "-m", "venv", "venv");
            return failure.isPresent()
                    ? failure
                    : step(
                            at,
                            "venv/bin/pip",
                            "install",
                            "-q",
                            "--no-compile",
                            "--disable-pip-version-check",
                            PYTHON[0],
                            PYTHON[1]);
        });
        return folder.resolve("venv/bin/python");
    }

    @Test
    void psycopg() throws Exception {
        Path python = python();
        check(python.getParent(), python.toString(), program("psycopg_sync.py").toString(), uri("postgresql"));
    }

    @Test
    void psycopgInTransactions() throws Exception {
        Path python = python();
        check(
                python.getParent(),
                python.toString(),
                program("psycopg_transactions.py").toString(),
                uri("postgresql"));
    }

    @Test
    void psycopgWithAsyncio() throws Exception {
        Path python = python();
        check(python.getParent(), python.toString(), program("psycopg_async.py").toString(), uri("postgresql"));
    }

    @Test
    void asyncpg() throws Exception {
        requireProgram("python", "python3", "--version");
        Path folder = installed("asyncpg", ASYNCPG, at -> {
            var failure = step(at, "python3", "-m", "venv", "venv");
            return failure.isPresent()
                    ? failure
                    : step(at, "venv/bin/pip", "install", "-q", "--no-compile", "--disable-pip-version-check", ASYNCPG);
        });
        Path python = folder.resolve("venv/bin/python");
        check(python.getParent(), python.toString(), program("asyncpg_flush.py").toString(), uri("postgresql"));
    }

    @Test
    void sqlalchemy() throws Exception {
        Path python = python();
        check(
                python.getParent(),
                python.toString(),
                program("sqlalchemy_orm.py").toString(),
                uri("postgresql+psycopg"));
    }

    @Test
    void nodePostgres() throws Exception {
        requireProgram("node", "node", "--version");
        requireProgram("node", "npm", "--version");
        Path folder = installed("node", String.join(" ", NODE), at -> {
            Files.writeString(at.resolve("package.json"), "{\"private\": true}");
            return step(at, "npm", "install", "--no-audit", "--no-fund", NODE[0], NODE[1], NODE[2]);
        });
        Path copy = folder.resolve("program.js"); // which finds its modules beside it
        Files.copy(program("node.js"), copy, StandardCopyOption.REPLACE_EXISTING);
        check(folder, "node", copy.toString(), "" + server.port());
    }

    @Test
    void pgx() throws Exception {
        requireProgram("go", "go", "version");
        String source = Files.readString(program("pgx/main.go"));
        Path folder = installed("pgx", source, at -> {
            Files.copy(program("pgx/main.go"), at.resolve("main.go"), StandardCopyOption.REPLACE_EXISTING);
            Files.copy(program("pgx/go.mod.txt"), at.resolve("go.mod"), StandardCopyOption.REPLACE_EXISTING);
            var failure = step(at, "go", "mod", "tidy");
            return failure.isPresent() ? failure : step(at, "go", "build", "-o", "pgx", ".");
        });
        check(folder, folder.resolve("pgx").toString(), uri("postgres"));
    }
}
