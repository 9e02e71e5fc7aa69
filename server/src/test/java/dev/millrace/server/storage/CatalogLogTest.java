package dev.millrace.server.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.storage.CatalogRecord.Access;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CatalogLogTest {
    @TempDir
    Path directory;

    private Path file() {
        return directory.resolve(CatalogLog.NAME);
    }

    private static CatalogRecord define(String name) {
        KeptObject object = new KeptObject(
                name,
                "stream",
                "CREATE STREAM \"" + name + "\" (ü TEXT)\n-- line",
                7,
                "millrace",
                Optional.empty(),
                false);
        return new CatalogRecord(List.of(new CatalogChange.Define(object)), Optional.empty(), Optional.empty());
    }

    private static List<String> names(CatalogLog log) {
        return log.catalog().objects().stream().map(KeptObject::name).toList();
    }

    private List<String> reopened() throws IOException {
        try (CatalogLog log = CatalogLog.open(directory)) {
            return names(log);
        }
    }

    @Test
    void recordsSayTheSameAfterReopening() throws IOException {
        Access access = new Access(List.of("CREATE ROLE a"), Map.of("x", "a"), List.of("GRANT SELECT ON x TO a"));
        KeptObject function = new KeptObject("f", "function", "CREATE FUNCTION ...", 9, "a", Optional.of("abc"), false);
        try (CatalogLog log = CatalogLog.open(directory)) {
            log.append(define("x"));
            log.append(define("y"));
            log.append(new CatalogRecord(
                    List.of(new CatalogChange.Define(function), new CatalogChange.Pause("y", true)),
                    Optional.of(access),
                    Optional.of(Map.of("scheduling_policy", "fcfs"))));
            log.append(define("x"));
        }
        try (CatalogLog log = CatalogLog.open(directory)) {
            assertEquals(List.of("y", "f", "x"), names(log));
            assertTrue(log.catalog().object("y").orElseThrow().paused());
            assertEquals(
                    Optional.of("abc"), log.catalog().object("f").orElseThrow().jar());
            assertEquals(access, log.catalog().access());
            assertEquals(Map.of("scheduling_policy", "fcfs"), log.catalog().settings());
            assertFalse(log.wasCut());
        }
    }

    @Test
    void aRecordThatWasBeingWrittenIsCutOffWhereverThePowerFailed() throws IOException {
        int whole;
        try (CatalogLog log = CatalogLog.open(directory)) {
            log.append(define("x"));
            whole = (int) Files.size(file());
            log.append(define("y"));
        }
        byte[] bytes = Files.readAllBytes(file());
        for (int length = whole; length < bytes.length; length++) {
            Files.write(file(), Arrays.copyOf(bytes, length));
            try (CatalogLog log = CatalogLog.open(directory)) {
                assertEquals(length > whole, log.wasCut());
                assertEquals(List.of("x"), names(log));
                log.append(define("z"));
            }
            assertEquals(List.of("x", "z"), reopened());
        }
    }

    @Test
    void damageIsReportedWithItsPlaceAndNeverPassedOver() throws IOException {
        try (CatalogLog log = CatalogLog.open(directory)) {
            log.append(define("x"));
            log.append(define("y"));
        }
        byte[] bytes = Files.readAllBytes(file());
        long seed = Long.getLong("seed", 1);
        System.out.println("catalog damage, seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 500; round++) {
            byte[] damaged = bytes.clone();
            int place = random.nextInt(bytes.length - 1);
            damaged[place] ^= (byte) (1 << random.nextInt(8));
            Files.write(file(), damaged);
            MillraceException error = assertThrows(MillraceException.class, this::reopened, () -> "byte " + place);
            assertTrue(List.of("XX001", "F0000").contains(error.sqlState().code()), error.getMessage());
            assertTrue(error.getMessage().contains(file().toString()), error.getMessage());
        }
    }

    @Test
    void otherFilesAndLaterVersionsAreRefused() throws IOException {
        Files.writeString(file(), "millrace-catalog 2\n");
        MillraceException later = assertThrows(MillraceException.class, this::reopened);
        assertEquals(file() + " is of version 2; this Millrace reads up to 1", later.getMessage());
        for (String other : List.of("", "hello\n", "millrace-catalog x\n", "millrace-catalog 1")) {
            Files.write(file(), other.getBytes(StandardCharsets.UTF_8));
            assertEquals(
                    "XX001",
                    assertThrows(MillraceException.class, this::reopened)
                            .sqlState()
                            .code());
        }
    }

    @Test
    void whatCannotBeWrittenIsNotThere() throws IOException {
        CatalogLog log = CatalogLog.open(directory);
        log.append(define("x"));
        log.close();
        assertEquals(
                "58030",
                assertThrows(MillraceException.class, () -> log.append(define("y")))
                        .sqlState()
                        .code());
        assertEquals(List.of("x"), names(log));
        assertEquals(List.of("x"), reopened());
    }
}
