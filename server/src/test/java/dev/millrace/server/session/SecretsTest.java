package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.operation.DirectoryVerification;
import dev.millrace.server.secret.SecretReferences;
import dev.millrace.server.storage.SecretsFile;
import dev.millrace.time.Clock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Secrets, and what refers to them. */
class SecretsTest {
    @TempDir
    Path folder;

    private final SecretReferences references = new SecretReferences(
            name -> Optional.ofNullable(Map.of("HOME", "/home/me").get(name)),
            name -> Optional.ofNullable(Map.of("a", "${env:HOME}").get(name)));

    private String reason(String text) {
        return assertThrows(MillraceException.class, () -> references.resolve(text))
                .getMessage();
    }

    @Test
    void referencesAreResolvedOnce() throws IOException {
        Path file = Files.writeString(folder.resolve("key"), "two\nlines\n");
        assertEquals("no $reference {here}", references.resolve("no $reference {here}"));
        assertEquals(
                "/home/me, ${env:HOME} and two\nlines",
                references.resolve("${env:HOME}, ${secret:a} and ${file:" + file + "}"));
        assertEquals(
                "nothing is found for ${env:NONE}: the server's environment has no such variable",
                reason("x ${env:NONE}"));
        assertEquals("nothing is found for ${secret:b}: there is no secret of this name", reason("${secret:b}"));
        assertEquals(
                "nothing is found for ${file:/none/such}: the file cannot be read (NoSuchFileException)",
                reason("${file:/none/such}"));
        Files.writeString(file, "x".repeat(70_000));
        assertTrue(reason("${file:" + file + "}").endsWith("the file has more than 65536 bytes"));
        for (String wrong : List.of("${hidden}", "${Secret:a}", "${secret:}", "hidden ${", "${env:HOME} ${vault:x}")) {
            assertEquals(
                    "an option has \"${\" where no reference begins: there are ${env:NAME}, ${file:/path} and ${secret:name}",
                    reason(wrong));
        }
    }

    @Test
    void secretsAreKeptAndNotShown() throws IOException {
        Path data = folder.resolve("data");
        Path file = data.resolve(SecretsFile.NAME);
        try (TestDatabase database = new TestDatabase(data)) {
            database.run("CREATE SECRET a AS 'hidden one'; CREATE SECRET \"B\" AS ''");
            assertEquals("42710 secret \"a\" already exists", database.error("CREATE SECRET a AS 'x'"));
            database.run("CREATE SECRET IF NOT EXISTS a AS 'not kept'");
            database.run("CREATE OR REPLACE SECRET a AS 'hidden, too'");
            assertEquals(List.of("B|", "a|"), database.rows("SELECT * FROM millrace.secrets"));
            assertEquals("42704 secret \"c\" does not exist", database.error("DROP SECRET c"));
            database.run("DROP SECRET IF EXISTS c");
            for (String wrong : List.of(
                    "CREATE SECRET a 'hidden'", "CREATE SECRET a AS hidden", "CREATE SECRET a AS 'x' 'hidden'")) {
                String error = database.error(wrong);
                assertTrue(error.startsWith("42601 the text of a secret stands behind AS, in quotes"), error);
                assertFalse(error.contains("hidden"), error);
            }
            Activity activity = new Activity(Clock.system());
            activity.begins("SELECT 1;\n create secret a\nas 'hidden'; SELECT 2");
            assertEquals("SELECT 1;\n create secret ..", activity.see().query());
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        }
        try (TestDatabase again = new TestDatabase(data)) {
            assertEquals(
                    Optional.of("hidden, too"),
                    again.database().instance().secrets().text("a"));
            assertEquals(Optional.of(""), again.database().instance().secrets().text("B"));
            again.run("BACKUP TO '" + folder.resolve("backup") + "'");
            assertEquals(
                    Files.readString(file),
                    Files.readString(folder.resolve("backup").resolve(SecretsFile.NAME)));
            again.run("DROP SECRET a");
        }
        try (TestDatabase last = new TestDatabase(data)) {
            assertEquals(List.of("B|"), last.rows("SELECT * FROM millrace.secrets"));
        }
        assertTrue(DirectoryVerification.run(data).isWhole());
        String text = Files.readString(file);
        Files.writeString(file, text.replace("\"B\"", "\"C\""));
        assertFalse(DirectoryVerification.run(data).isWhole());
        MillraceException damaged = assertThrows(MillraceException.class, () -> new TestDatabase(data).close());
        assertTrue(damaged.getMessage().contains("its checksum does not hold"), damaged::getMessage);
        Files.writeString(file, text.replace("millrace-secrets 2", "millrace-secrets 3"));
        MillraceException later = assertThrows(MillraceException.class, () -> new TestDatabase(data).close());
        assertTrue(later.getMessage().endsWith("is of version 3, and this program reads version 2"), later::getMessage);
        Files.writeString(file, text);
        new TestDatabase(data).close();
    }

    private String refused(Path data) {
        assertFalse(DirectoryVerification.run(data).isWhole());
        MillraceException refused = assertThrows(MillraceException.class, () -> new TestDatabase(data).close());
        assertEquals("XX001", refused.sqlState().code());
        assertTrue(refused.hint().orElse("").contains("secrets.given-up"), () -> "" + refused.hint());
        return refused.getMessage();
    }

    @Test
    void aFileThatIsNotTheOneThatWasThereIsNotTakenForIt() throws IOException {
        Path data = folder.resolve("data");
        Path other = folder.resolve("other");
        Path file = data.resolve(SecretsFile.NAME);
        try (TestDatabase database = new TestDatabase(other)) {
            database.run("CREATE SECRET a AS '1'; CREATE SECRET b AS '2'; DROP SECRET b");
        }
        byte[] older;
        try (TestDatabase database = new TestDatabase(data)) {
            database.run("CREATE SECRET a AS 'first'");
            older = Files.readAllBytes(file);
            database.run("CREATE OR REPLACE SECRET a AS 'second'");
        }
        byte[] newest = Files.readAllBytes(file);
        Files.delete(file);
        assertTrue(refused(data).endsWith("secrets is missing: there were secrets in it"));
        Files.write(file, older);
        assertTrue(refused(data).endsWith("secrets is an older copy"));
        Files.write(file, Files.readAllBytes(other.resolve(SecretsFile.NAME)));
        assertTrue(refused(data).endsWith("secrets is of another database"));
        Files.write(file, newest);
        new TestDatabase(data).close();
        Files.writeString(file, "damaged");
        refused(data);
        Files.createFile(data.resolve("secrets.given-up"));
        for (int round = 0; round < 2; round++) {
            try (TestDatabase database = new TestDatabase(data)) {
                assertEquals(List.of(), database.rows("SELECT * FROM millrace.secrets"));
                assertFalse(Files.exists(data.resolve("secrets.given-up")));
            }
            assertTrue(DirectoryVerification.run(data).isWhole());
        }
    }

    @Test
    void aFileOfTheFirstVersionIsReadAndWrittenAnew() throws IOException {
        Path data = folder.resolve("data");
        Path file = data.resolve(SecretsFile.NAME);
        new TestDatabase(data).close();
        String line = "1 {\"a\":\"of before\"}";
        CRC32C checksum = new CRC32C();
        checksum.update(line.getBytes(StandardCharsets.UTF_8));
        Files.writeString(file, String.format("millrace-secrets 1\n%08x %s\n", checksum.getValue(), line));
        assertTrue(DirectoryVerification.run(data).isWhole());
        try (TestDatabase database = new TestDatabase(data)) {
            assertEquals(
                    Optional.of("of before"),
                    database.database().instance().secrets().text("a"));
        }
        assertTrue(Files.readString(file).startsWith("millrace-secrets 2\n"));
        Files.delete(file);
        refused(data);
    }
}
