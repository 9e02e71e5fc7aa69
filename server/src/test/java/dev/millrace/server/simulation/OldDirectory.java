package dev.millrace.server.simulation;

import dev.millrace.storage.simulation.SimulatedDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * A data directory of an earlier version that a history begins with, and what it must answer for ever, as nobody changes it. One function
 * has its code in a jar, which is no file of the simulated disk: it, and what needs it, is not there.
 */
record OldDirectory(String name, Map<String, byte[]> files, Map<String, List<String>> answers) {
    private static final Path FIXTURES = Path.of("src", "test", "resources", "directories");
    private static final List<String> NEEDS_JAR = List.of("\"twice\"", "\"Named; totals\"");
    private static final Map<String, OldDirectory> READ = new TreeMap<>();

    static OldDirectory named(String name) {
        return READ.computeIfAbsent(name, OldDirectory::read);
    }

    private static OldDirectory read(String name) {
        Map<String, byte[]> files = new TreeMap<>();
        try (ZipInputStream zip = new ZipInputStream(Files.newInputStream(FIXTURES.resolve(name + ".zip")))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                files.put(entry.getName(), zip.readAllBytes());
            }
            String text = Files.readString(FIXTURES.resolve(name.substring(0, name.indexOf('-')) + ".answers"));
            return new OldDirectory(name, files, answers(text));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Of what is a relation's, and does not need the jar. */
    private static Map<String, List<String>> answers(String text) {
        Map<String, List<String>> answers = new TreeMap<>();
        for (String part : text.split("(?m)^-- ")) {
            String query = part.lines().findFirst().orElse("");
            List<String> rows = part.lines().skip(1).toList();
            boolean isError = rows.size() == 1 && rows.get(0).matches("[0-9A-Z]{5}");
            if (query.startsWith("SELECT * FROM ") && !needsJar(query) && !isError) {
                answers.put(query, rows);
            }
        }
        return answers;
    }

    static boolean needsJar(String line) {
        return NEEDS_JAR.stream().anyMatch(line::contains);
    }

    /** Puts all files onto a disk. */
    void putOnto(SimulatedDisk disk) {
        files.forEach((path, bytes) -> {
            SimulatedDisk at = disk;
            String name = path;
            try {
                for (int slash = name.indexOf('/'); slash >= 0; slash = name.indexOf('/')) {
                    at = (SimulatedDisk) at.directory(name.substring(0, slash));
                    name = name.substring(slash + 1);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            at.put(name, bytes);
        });
    }

    /** Rows as lines, as {@link #answers} has them. */
    static List<String> lines(List<String> rows) {
        return rows.stream()
                .flatMap(row -> row.isEmpty() ? Stream.of("") : row.lines())
                .toList();
    }
}
