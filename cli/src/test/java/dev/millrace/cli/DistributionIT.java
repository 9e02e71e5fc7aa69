package dev.millrace.cli;

import static java.util.stream.Collectors.toCollection;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** What is shipped, unpacked elsewhere. Runs once it is packed ({@code mvn verify}). */
@Timeout(300)
@EnabledIfSystemProperty(named = DistributionIT.ARCHIVE, matches = ".+", disabledReason = "the archive is made later")
class DistributionIT {
    static final String ARCHIVE = "millrace.distribution";

    private static final Pattern ONLY_FOR_TESTS = Pattern.compile("(testing|benchmarks|junit.*|opentest4j|archunit.*"
            + "|duckdb.*|jmh.*|HikariCP|spring.*|pitest.*)-[0-9].*");
    private static final int BLOCK = 512;

    @TempDir
    static Path folder;

    private static Path home;

    @BeforeAll
    static void unpack() throws Exception {
        Path elsewhere = Files.createDirectory(folder.resolve("else where"));
        Process tar = new ProcessBuilder("tar", "-xzf", System.getProperty(ARCHIVE), "-C", elsewhere.toString())
                .inheritIO()
                .start();
        assertEquals(0, tar.waitFor());
        try (Stream<Path> all = Files.list(elsewhere)) {
            List<Path> folders = all.toList();
            assertEquals(1, folders.size(), folders::toString);
            home = folders.get(0);
        }
    }

    /** A start by the script, with nothing of the repository in its environment. */
    private static ProcessBuilder millrace(Path script, String... arguments) {
        List<String> command = new ArrayList<>(List.of(script.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
        builder.environment().clear();
        builder.environment().put("PATH", "/usr/bin:/bin");
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("MILLRACE_JVM_OPTIONS", "-Xmx256m -XX:TieredStopAtLevel=1");
        return builder;
    }

    private static Path script() {
        return home.resolve("bin/millrace");
    }

    private static String said(ProcessBuilder command) throws Exception {
        Process process = command.redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        return said;
    }

    private static List<Path> jars() throws IOException {
        try (Stream<Path> all = Files.list(home.resolve("lib"))) {
            return all.sorted().toList();
        }
    }

    @Test
    void itHoldsTheProgramAndNothingThatOnlyTestsAndBenchmarksNeed() throws Exception {
        try (Stream<Path> all = Files.list(home)) {
            assertEquals(
                    List.of("README.md", "bin", "deploy", "edge", "lib"),
                    all.map(path -> path.getFileName().toString())
                            .filter(name -> !name.endsWith(".jsa"))
                            .sorted()
                            .toList());
        }
        TreeSet<String> strangers = new TreeSet<>();
        for (Path jar : jars()) {
            if (ONLY_FOR_TESTS.matcher(jar.getFileName().toString()).matches()) {
                strangers.add(jar.toString());
            }
            try (JarFile file = new JarFile(jar.toFile())) {
                file.stream()
                        .map(entry -> entry.getName())
                        .filter(name -> name.matches("(dev/millrace/(testing|benchmarks)|org/(junit|duckdb))/.*"))
                        .forEach(strangers::add);
            }
        }
        assertEquals(new TreeSet<>(), strangers);
    }

    @Test
    void aStatementIsAnsweredFromAnyFolderAndThroughALink() throws Exception {
        assertEquals(
                "answer\n42\n", said(millrace(script(), "sql", "--format", "csv", "-c", "SELECT 40 + 2 AS answer")));
        Path link = Files.createSymbolicLink(folder.resolve("linked"), script());
        assertEquals(said(millrace(script(), "version")), said(millrace(link, "version")));
    }

    @Test
    void whereNoArchiveOfClassesCanBeMadeResultsAreAllThatIsSaid() throws Exception {
        Path bare = Files.createDirectory(folder.resolve("bare"));
        Files.createFile(bare.resolve("classes-" + Runtime.version().feature() + ".jsa.failed"));
        Files.createSymbolicLink(bare.resolve("lib"), home.resolve("lib"));
        Files.createDirectory(bare.resolve("bin"));
        for (String script : List.of("bin/millrace", "bin/find-java.sh")) {
            Files.copy(home.resolve(script), bare.resolve(script), StandardCopyOption.COPY_ATTRIBUTES);
        }
        assertEquals(
                "answer\n42\n",
                said(millrace(
                        bare.resolve("bin/millrace"), "sql", "--format", "csv", "-c", "SELECT 40 + 2 AS answer")));
    }

    @Test
    void theAgentRunsFromItsFolderAlone() throws Exception {
        Path config = Files.writeString(folder.resolve("edge.conf"), """
                device = d, data = "%s"
                streams { s { columns = ["n bigint"], input { type = stdin } } }
                """.formatted(folder.resolve("agent")));
        assertEquals("", said(millrace(script(), "edge", "--config", config.toString(), "--check")));
        assertTrue(said(millrace(script(), "edge", "--help")).contains("--edge-port"));
        Path device = Files.createDirectory(folder.resolve("device"));
        for (String file : List.of("millrace-edge", "millrace-edge.jar")) {
            Files.copy(home.resolve("edge").resolve(file), device.resolve(file), StandardCopyOption.COPY_ATTRIBUTES);
        }
        Path launcher = device.resolve("millrace-edge");
        assertEquals("", said(millrace(launcher, "--config", config.toString(), "--check")));
        assertTrue(said(millrace(launcher, "--config")).startsWith("usage: "));
    }

    @Test
    void itServesPostgresqlClients() throws Exception {
        try (ServerProcess server = ServerProcess.start(millrace(
                        script(),
                        "server",
                        "--port",
                        "0",
                        "--no-http",
                        "--data",
                        folder.resolve("data").toString()));
                Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE STREAM s (v BIGINT)");
            statement.execute("CREATE MATERIALIZED VIEW total AS SELECT sum(v) AS v FROM s");
            statement.execute("INSERT INTO s VALUES (40), (2)");
            try (ResultSet row = statement.executeQuery("SELECT v FROM total")) {
                assertTrue(row.next());
                assertEquals(42, row.getLong(1));
            }
            server.terminate();
            assertEquals(143, server.awaitExit());
        }
    }

    @Test
    void aJarInTheFolderPluginsIsFound() throws Exception {
        Path jar = PluginJar.make(folder.resolve("plugin"));
        Path plugins = Files.createDirectories(home.resolve("plugins"));
        Path there = Files.copy(jar, plugins.resolve(jar.getFileName()));
        try (ServerProcess server = ServerProcess.start(millrace(script(), "server", "--port", "0", "--no-http"));
                Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            PluginTest.use(statement, Files.createDirectory(folder.resolve("used")));
        } finally {
            Files.delete(there);
            Files.delete(plugins);
        }
    }

    @Test
    void whatIsOnlyInTheRepositoryIsSaidToBeThere() throws Exception {
        assertTrue(said(millrace(script(), "bench")).contains("in the repository"));
    }

    @Test
    void librariesOfTheFirstStatementsAreNotSigned() throws Exception {
        for (Path jar : jars()) {
            if (jar.getFileName().toString().matches("(janino|commons-compiler)-.*")) {
                try (JarFile file = new JarFile(jar.toFile())) {
                    assertFalse(file.stream().anyMatch(entry -> entry.getName().matches("META-INF/.*\\.(SF|RSA|DSA)")));
                    assertTrue(file.stream().anyMatch(entry -> entry.getName().endsWith(".class")));
                }
            }
        }
    }

    @Test
    void itHasTheSameBytesWhoeverMakesItAndWhenever() throws Exception {
        TreeSet<String> owners = new TreeSet<>();
        TreeSet<Instant> times = new TreeSet<>();
        List<String> names = new ArrayList<>();
        try (InputStream in = new GZIPInputStream(Files.newInputStream(Path.of(System.getProperty(ARCHIVE))))) {
            for (byte[] header = in.readNBytes(BLOCK); header.length == BLOCK && header[0] != 0; ) {
                names.add(text(header, 0, 100));
                owners.add(number(header, 108, 8) + ":" + number(header, 116, 8) + " " + text(header, 265, 32));
                times.add(Instant.ofEpochSecond(number(header, 136, 12)));
                in.skipNBytes((number(header, 124, 12) + BLOCK - 1) / BLOCK * BLOCK);
                header = in.readNBytes(BLOCK);
            }
        }
        assertEquals(new TreeSet<>(List.of("0:0 root")), owners);
        assertEquals(1, times.size(), times::toString);
        assertTrue(names.size() > jars().size(), names::toString);
        assertEquals(names.stream().distinct().collect(toCollection(ArrayList::new)), names);
    }

    private static String text(byte[] header, int from, int length) {
        return new String(header, from, length, StandardCharsets.US_ASCII).replaceAll("\0.*", "");
    }

    private static long number(byte[] header, int from, int length) {
        return Long.parseLong(text(header, from, length).strip(), 8);
    }
}
