package dev.millrace.server.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.storage.CatalogRecord.Access;
import dev.millrace.sql.statement.Commented;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.storage.simulation.SimulatedCrash;
import dev.millrace.storage.simulation.SimulatedDisk;
import dev.millrace.type.PlainNumeric;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CatalogLogTest {
    @TempDir
    Path directory;

    private Path file() {
        return directory.resolve(CatalogLog.NAME);
    }

    private Path end() {
        return directory.resolve(CatalogEnd.NAME);
    }

    private List<String> written(String... names) throws IOException {
        try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
            List.of(names).forEach(name -> log.append(define(name)));
        }
        return Files.readAllLines(file());
    }

    /** Refuses these lines, twice, as a refusal changes nothing; gives why, from the number of the line on. */
    private String refused(List<String> lines) throws IOException {
        return refused((String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
    }

    private String refused(byte[] bytes) throws IOException {
        byte[] before = Files.readAllBytes(end());
        Files.write(file(), bytes);
        MillraceException first = assertThrows(MillraceException.class, this::reopened);
        MillraceException second = assertThrows(MillraceException.class, this::reopened);
        assertEquals("XX001", first.sqlState().code());
        assertEquals(first.getMessage(), second.getMessage());
        assertArrayEquals(bytes, Files.readAllBytes(file()));
        assertArrayEquals(before, Files.readAllBytes(end()));
        assertTrue(first.hint().orElseThrow().contains("restore"), first.hint().toString());
        String place = file() + " is damaged: ";
        assertTrue(first.getMessage().startsWith(place), first.getMessage());
        return first.getMessage().substring(place.length());
    }

    private static CatalogRecord define(String name) {
        return define(name, "millrace");
    }

    private static CatalogRecord define(String name, String owner) {
        KeptObject object = new KeptObject(
                name,
                "stream",
                "CREATE STREAM \"" + name + "\" (ü TEXT)\n-- line",
                7,
                owner,
                Optional.empty(),
                OptionalLong.of(12),
                34,
                Map.of("t rows", 7.5),
                OptionalLong.empty(),
                PlainNumeric.UNLIMITED);
        return new CatalogRecord(List.of(new CatalogChange.Define(object)), Optional.empty(), Optional.empty());
    }

    private static List<String> names(CatalogLog log) {
        return log.catalog().objects().stream().map(KeptObject::name).toList();
    }

    private List<String> reopened() throws IOException {
        try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
            return names(log);
        }
    }

    @Test
    void recordsSayTheSameAfterReopening() throws IOException {
        Access access = new Access(List.of("CREATE ROLE a"), Map.of("x", "a"), List.of("GRANT SELECT ON x TO a"));
        KeptObject function = new KeptObject(
                "f",
                "function",
                "CREATE FUNCTION ...",
                9,
                "a",
                Optional.of("abc"),
                OptionalLong.empty(),
                0,
                Map.of(),
                OptionalLong.empty(),
                PlainNumeric.LIMITED);
        try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
            log.append(define("x"));
            log.append(define("y"));
            log.append(new CatalogRecord(
                    List.of(new CatalogChange.Define(function), new CatalogChange.Pause("y", OptionalLong.of(35))),
                    Optional.of(access),
                    Optional.of(Map.of("scheduling_policy", "fcfs"))));
            log.append(define("x", "a"));
        }
        try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
            assertEquals(List.of("y", "f", "x"), names(log));
            assertEquals(
                    OptionalLong.of(35), log.catalog().object("y").orElseThrow().paused());
            assertEquals(
                    Optional.of("abc"), log.catalog().object("f").orElseThrow().jar());
            assertEquals(
                    PlainNumeric.LIMITED,
                    log.catalog().object("f").orElseThrow().numeric());
            assertEquals(
                    PlainNumeric.UNLIMITED,
                    log.catalog().object("x").orElseThrow().numeric());
            assertEquals(access, log.catalog().access());
            assertEquals(Map.of("scheduling_policy", "fcfs"), log.catalog().settings());
            assertEquals(List.of(), log.notices());
        }
    }

    @Test
    void commentsGoWithWhatIsDroppedAndStayWithWhatIsDefinedAgain() throws IOException {
        Commented database = Commented.DATABASE;
        Commented x = Commented.thing("x");
        Commented column = new Commented(Commented.Kind.COLUMN, "x", "a b");
        Commented key = new Commented(Commented.Kind.CONSTRAINT, "x", "");
        Commented xx = Commented.thing("xx");
        String text = "\"it's\"\n\u00e9 \ud83d\ude00";
        try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
            log.append(define("x"));
            log.append(define("xx"));
            for (Commented on : List.of(database, x, column, key, xx)) {
                log.append(comment(on, Optional.of(text + on)));
            }
            log.append(define("x"));
            log.append(comment(key, Optional.empty()));
        }
        for (int round = 0; round < 2; round++) {
            try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
                assertEquals(
                        Map.of(database, text + database, x, text + x, column, text + column, xx, text + xx),
                        log.catalog().comments());
                assertEquals(
                        log.catalog().comments(),
                        KeptCatalog.of(log.catalog().records()).comments());
                for (int i = 0; i < 200 * (1 - round); i++) {
                    log.append(comment(x, Optional.of(text + x))); // the next one that opens it writes it anew
                }
            }
        }
        try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
            List<CatalogChange> changes = new ArrayList<>(define("x").changes());
            changes.add(0, new CatalogChange.Drop("x"));
            log.append(new CatalogRecord(changes, Optional.empty(), Optional.empty()));
        }
        try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
            assertEquals(
                    Map.of(database, text + database, xx, text + xx),
                    log.catalog().comments());
        }
    }

    private static CatalogRecord comment(Commented on, Optional<String> text) {
        return new CatalogRecord(List.of(new CatalogChange.Comment(on, text)), Optional.empty(), Optional.empty());
    }

    @Test
    void aRecordThatWasBeingWrittenIsCutOffWhereverThePowerFailed() throws IOException {
        int whole;
        byte[] answered;
        try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
            log.append(define("x"));
            whole = (int) Files.size(file());
            answered = Files.readAllBytes(end());
            log.append(define("y"));
        }
        byte[] bytes = Files.readAllBytes(file());
        for (int length = whole; length < bytes.length; length++) {
            Files.write(file(), Arrays.copyOf(bytes, length));
            Files.write(end(), answered);
            try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
                assertEquals(
                        length == whole
                                ? List.of()
                                : List.of("record 2 of catalog.log was being written when the database ended; the "
                                        + (length - whole) + " bytes that were there of it are cut off"),
                        log.notices());
                assertEquals(List.of("x"), names(log));
                log.append(define("z"));
            }
            assertEquals(List.of("x", "z"), reopened());
        }
    }

    /** Who began it was killed before it was forced; the next one could not force it, and the system calls it written since then. */
    @Test
    void aRecordThatWasReadIsThereAfterTheMachineStopped() throws IOException {
        int found = 0;
        for (int run = 0; run < 60; run++) {
            SimulatedDisk disk = new SimulatedDisk(run);
            try (CatalogLog log = CatalogLog.open(disk)) {
                log.append(define("x"));
                disk.killIn(run % 3);
                log.append(define("y"));
                disk.kill();
            } catch (SimulatedCrash dead) {
                disk.revive();
            }
            disk.chances().forceErrorOneIn = 2;
            List<String> read = List.of();
            while (read.isEmpty()) {
                try (CatalogLog log = CatalogLog.open(disk)) {
                    read = names(log);
                } catch (MillraceException e) {
                    assertEquals("58030", e.sqlState().code());
                }
            }
            disk.calm();
            found += read.size();
            try (CatalogLog again = CatalogLog.open(disk.crash())) {
                assertEquals(read, names(again), "run " + run);
            }
        }
        assertTrue(found > 60, found + " records");
    }

    @Test
    void aRecordOfWhichTheMachineWroteOnlyTheEndIsCutOff() throws IOException {
        byte[] answered;
        int whole;
        try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
            log.append(define("x"));
            whole = (int) Files.size(file());
            answered = Files.readAllBytes(end());
            log.append(define("y"));
        }
        byte[] bytes = Files.readAllBytes(file());
        Arrays.fill(bytes, whole, whole + 20, (byte) 0);
        String why = refused(bytes);
        assertTrue(why.startsWith("line 3, which begins at byte " + whole), why);
        Files.write(end(), answered);
        try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
            assertEquals(List.of("x"), names(log));
            assertEquals(1, log.notices().size(), log.notices().toString());
            log.append(define("z"));
        }
        List<String> lines = Files.readAllLines(file());
        assertEquals(List.of("x", "z"), reopened());
        lines.set(2, lines.get(2).replace("millrace", "millracE"));
        lines.add(written("w").get(3));
        Files.write(end(), answered);
        assertTrue(refused(lines).startsWith("line 3, "), "there is a whole one behind it");
    }

    @Test
    void damageIsReportedWithItsPlaceAndNeverPassedOver() throws IOException {
        try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
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
        Files.writeString(file(), "millrace-catalog 9\n");
        MillraceException later = assertThrows(MillraceException.class, this::reopened);
        assertEquals(file() + " is of version 9; this Millrace reads up to 8", later.getMessage());
        for (String other : List.of(
                "",
                "hello\n",
                "millrace-catalog x\n",
                "millrace-catalog 1",
                "millrace-catalog 3\n",
                "millrace-catalog 8 7 00000000\n",
                "millrace-catalog 1 1\n")) {
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
        CatalogLog log = CatalogLog.open(new RealDisk(directory));
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

    @Test
    void aLineThatIsMissingDoubledOrInAnothersPlaceIsRefused() throws IOException {
        List<String> lines = written("a", "b", "c", "d", "e");
        for (int i = 1; i < lines.size(); i++) {
            List<String> missing = new ArrayList<>(lines);
            missing.remove(i);
            String why = refused(missing);
            assertTrue(why.endsWith("record " + i + " is missing"), why);
            assertTrue(why.contains("line " + (i == 5 ? 5 : i + 1) + ","), why);

            List<String> doubled = new ArrayList<>(lines);
            doubled.add(i, lines.get(i));
            why = refused(doubled);
            assertTrue(why.startsWith("line " + (i + 2) + ", which begins at byte "), why);
            assertTrue(
                    why.endsWith("is record " + i + " where record " + (i + 1)
                            + " belongs: it is there twice, or not in its place"),
                    why);

            for (int other = i + 1; other < lines.size(); other++) {
                List<String> exchanged = new ArrayList<>(lines);
                Collections.swap(exchanged, i, other);
                why = refused(exchanged);
                assertTrue(why.startsWith("line " + (i + 1) + ","), why);

                List<String> instead = new ArrayList<>(lines);
                instead.set(i, lines.get(other));
                refused(instead);
                instead = new ArrayList<>(lines);
                instead.set(other, lines.get(i));
                refused(instead);
            }
        }
        Files.write(file(), lines);
        assertEquals(List.of("a", "b", "c", "d", "e"), reopened());
    }

    @Test
    void aRecordThatWasWholeAndIsCutNowIsRefusedAndTheFirstAsWell() throws IOException {
        int title = Files.readAllBytes(Files.write(file(), CatalogReader.title(1))).length;
        written("a", "b");
        byte[] bytes = Files.readAllBytes(file());
        int first = new String(bytes, StandardCharsets.ISO_8859_1).indexOf('\n', title) + 1;
        for (int length = title; length < bytes.length; length++) {
            String why = refused(Arrays.copyOf(bytes, length));
            boolean torn = length != title && length != first;
            assertTrue(why.endsWith(length < first ? "records 1 to 2 are missing" : "record 2 is missing"), why);
            assertEquals(torn, why.contains(", is cut, and was whole once"), why);
        }
        Files.delete(end());
        try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
            assertEquals(List.of("a"), names(log));
            assertEquals(2, log.notices().size(), "that it is not known what is missing, and that a record is cut");
        }
        assertEquals(List.of("a"), reopened());
    }

    @Test
    void aLogThatEndsLaterThanIsKnownIsRight() throws IOException {
        written("a");
        byte[] behind = Files.readAllBytes(end());
        written("b", "c");
        Files.write(end(), behind);
        try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
            assertEquals(List.of("a", "b", "c"), names(log));
            assertEquals(List.of(), log.notices());
        }
        List<String> lines = Files.readAllLines(file());
        assertTrue(refused(lines.subList(0, 3)).endsWith("record 3 is missing"), "it was told again");
    }

    @Test
    void whatIsWrittenAnewKeepsTheNumberOfItsEnd() throws IOException {
        try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
            for (int i = 0; i < 200; i++) {
                log.append(define("x"));
                log.append(new CatalogRecord(List.of(new CatalogChange.Drop("x")), Optional.empty(), Optional.empty()));
            }
        }
        assertEquals(List.of(), reopened());
        assertEquals(1, Files.readAllLines(file()).size());
        List<String> lines = written("y", "z");
        assertTrue(lines.get(0).startsWith("millrace-catalog 8 401 "), lines.get(0));
        assertTrue(refused(List.of(lines.get(0), lines.get(2))).endsWith("record 401 is missing"));
        assertTrue(refused(List.of(lines.get(0))).endsWith("records 401 to 402 are missing"));
        Files.write(file(), lines);
        assertEquals(List.of("y", "z"), reopened());
    }

    @Test
    void filesWithoutNumbersAreReadAndWrittenAnew() throws IOException {
        List<String> lines = written("a", "b", "a");
        List<String> old = new ArrayList<>(List.of("millrace-catalog 1"));
        for (String line : lines.subList(1, lines.size())) {
            String json = line.substring(line.indexOf('{'));
            old.add(NumberedLine.checksum(json) + " " + json);
        }
        Files.delete(end());
        Files.writeString(file(), String.join("\n", old) + "\nab cut");
        try (CatalogLog log = CatalogLog.open(new RealDisk(directory))) {
            assertEquals(List.of("b", "a"), names(log));
            assertEquals(1, log.notices().size(), log.notices().toString());
            log.append(define("c"));
        }
        List<String> now = Files.readAllLines(file());
        assertTrue(now.get(0).startsWith("millrace-catalog 8 2 "), now.get(0));
        assertEquals(4, now.size());
        assertEquals(List.of("b", "a", "c"), reopened());
        List<String> damaged = new ArrayList<>(old);
        damaged.set(2, damaged.get(2).replace("VARCHAR", "TEXT").replace("define", "drop"));
        assertTrue(refused(damaged).contains("line 3, which begins at byte "));
    }
}
