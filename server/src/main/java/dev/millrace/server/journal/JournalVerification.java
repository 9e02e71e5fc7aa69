package dev.millrace.server.journal;

import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.storage.KeptCatalog;
import dev.millrace.server.storage.KeptObject;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.storage.log.LogPlace;
import dev.millrace.storage.log.LogReport;
import dev.millrace.storage.log.RecordConsumer;
import dev.millrace.storage.log.WriteAheadLog;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Reads every byte of the log of rows, of a database that may be open, and changes nothing. For one thread. */
public final class JournalVerification {
    private static final int MOST_NAMED = 10;
    private static final Set<String> RELATIONS = Set.of(ObjectKind.TABLE.sqlName(), ObjectKind.STREAM.sqlName());

    private JournalVerification() {}

    /**
     * What was found, file by file.
     *
     * @param directory of the database
     * @param catalog what is defined, if that is known
     * @throws dev.millrace.error.MillraceException 58030 where something cannot be read
     */
    public static List<FileReport> run(Path directory, Optional<KeptCatalog> catalog) {
        Map<Long, String> tables = new TreeMap<>();
        catalog.ifPresent(read -> {
            for (KeptObject object : read.objects()) {
                if (RELATIONS.contains(object.kind())) {
                    object.number().ifPresent(number -> tables.put(number, object.name()));
                }
            }
        });
        Path rows = directory.resolve(DataDirectory.ROWS);
        if (!Files.isDirectory(rows)) {
            return tables.isEmpty()
                    ? List.of()
                    : List.of(FileReport.damaged(
                            DataDirectory.ROWS,
                            0,
                            "all rows of " + names(new TreeSet<>(tables.values())),
                            rows + " is missing"));
        }
        List<Tally> tallies = new ArrayList<>(); // the last one counts
        LogReport report = WriteAheadLog.verify(RealDisk.readOnly(rows), () -> {
            tallies.add(new Tally());
            return tallies.get(tallies.size() - 1);
        });
        Tally tally = tallies.get(tallies.size() - 1);
        return report.files().stream()
                .map(file -> tally.described(file, tables).in(DataDirectory.ROWS))
                .toList();
    }

    private static String names(Iterable<String> tables) {
        List<String> all = new ArrayList<>();
        tables.forEach(all::add);
        return all.stream().limit(MOST_NAMED).collect(Collectors.joining(", "))
                + (all.size() > MOST_NAMED ? " and " + (all.size() - MOST_NAMED) + " others" : "");
    }

    /** Which relations have something in which segment. */
    private static final class Tally implements RecordConsumer {
        private final Map<String, Set<Long>> bySegment = new HashMap<>();

        @Override
        public void accept(long number, ByteBuffer bytes) {
            throw new IllegalStateException("its place is wanted, too");
        }

        @Override
        public void accept(long number, LogPlace place, ByteBuffer bytes) {
            Set<Long> relations = bySegment.computeIfAbsent(place.file(), segment -> new TreeSet<>());
            KeptRows.parts(
                    number, bytes, other -> ByteBuffer.allocate(0), (asOf, part) -> relations.add(part.relation()));
        }

        FileReport described(FileReport file, Map<Long, String> tables) {
            Set<Long> relations = bySegment.getOrDefault(file.name(), Set.of());
            Set<String> found = new TreeSet<>();
            relations.forEach(number -> found.add(tables.getOrDefault(number, "tables that are gone")));
            String contents = found.isEmpty() ? file.contents() : file.contents() + ": rows of " + names(found);
            return new FileReport(file.name(), file.bytes(), contents, file.known(), file.damage(), file.notices());
        }
    }
}
