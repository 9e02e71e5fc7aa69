package dev.millrace.server.journal;

import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.storage.KeptCatalog;
import dev.millrace.server.storage.KeptObject;
import dev.millrace.server.storage.KnownLog;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.storage.log.LogPlace;
import dev.millrace.storage.log.LogReport;
import dev.millrace.storage.log.RecordConsumer;
import dev.millrace.storage.log.WriteAheadLog;
import java.io.IOException;
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
    private static final Set<String> WITH_ROWS = Set.of(ObjectKind.TABLE.sqlName(), ObjectKind.STREAM.sqlName());
    private static final int MOST_NAMED = 10;

    private JournalVerification() {}

    /**
     * What was found.
     *
     * @param files by their names in the data directory
     * @param log what the log as a whole has; none where it is missing
     * @param hasAll whether some tables have all their rows in it, whatever was forgotten: no version since has written that
     */
    public record Findings(List<FileReport> files, Optional<LogReport> log, boolean hasAll) {
        /** What is missing between a checkpoint that has the records up to a number, and the log; if anything is, and the log is whole. */
        public Optional<String> gap(long checkpoint) {
            if (log.isEmpty() || !log.get().damage().isEmpty()) {
                return Optional.empty();
            }
            LogReport of = log.get();
            if (checkpoint > of.last()) {
                return Optional.of("the log of rows ends with record " + of.last()
                        + ", and the checkpoint has what came up to record " + checkpoint);
            }
            return of.before() > checkpoint && (checkpoint > 0 || !hasAll)
                    ? Optional.of("the log of rows begins behind record " + of.before()
                            + ", and the checkpoint has what came up to record " + checkpoint)
                    : Optional.empty();
        }
    }

    /**
     * Reads it.
     *
     * @param directory of the database
     * @param catalog what is defined, if that is known
     * @throws dev.millrace.error.MillraceException 58030 where something cannot be read
     */
    public static Findings run(Path directory, Optional<KeptCatalog> catalog) {
        Map<Long, String> tables = new TreeMap<>();
        catalog.ifPresent(read -> {
            for (KeptObject object : read.objects()) {
                if (WITH_ROWS.contains(object.kind())) {
                    object.number().ifPresent(number -> tables.put(number, object.name()));
                }
            }
        });
        Path rows = directory.resolve(DataDirectory.ROWS);
        Optional<KnownLog> known = catalog.flatMap(KeptCatalog::logs).map(logs -> logs.get(DataDirectory.ROWS));
        if (!Files.isDirectory(rows) || isEmpty(rows)) {
            boolean isNeeded = known.isPresent()
                    || catalog.stream()
                            .flatMap(read -> read.objects().stream())
                            .anyMatch(object -> object.number().isPresent());
            List<FileReport> missing = !isNeeded
                    ? List.of()
                    : List.of(FileReport.damaged(
                            DataDirectory.ROWS,
                            0,
                            "all rows of " + names(new TreeSet<>(tables.values())),
                            rows + " is missing"));
            return new Findings(missing, Optional.empty(), false);
        }
        List<Tally> tallies = new ArrayList<>(); // the last one counts
        LogReport report = WriteAheadLog.verify(RealDisk.readOnly(rows), () -> {
            tallies.add(new Tally());
            return tallies.get(tallies.size() - 1);
        });
        Tally tally = tallies.get(tallies.size() - 1);
        List<FileReport> files = report.files().stream()
                .map(file -> tally.described(file, tables).in(DataDirectory.ROWS))
                .toList();
        List<FileReport> all = new ArrayList<>(files);
        known.flatMap(log -> misfit(log, rows, report))
                .ifPresent(what -> all.add(FileReport.damaged(DataDirectory.ROWS, 0, "the log as a whole", what)));
        return new Findings(all, Optional.of(report), tally.hasAll);
    }

    /** Of one that is damaged its files say more. */
    private static Optional<String> misfit(KnownLog log, Path rows, LogReport report) {
        Disk files = RealDisk.readOnly(rows);
        try {
            Optional<String> other = log.misfit(files);
            return other.isPresent() || !report.damage().isEmpty() ? other : log.misfit(files, report.last());
        } catch (IOException e) {
            throw DiskErrors.failed("read " + rows, e);
        }
    }

    private static boolean isEmpty(Path rows) {
        try {
            return !WriteAheadLog.exists(RealDisk.readOnly(rows));
        } catch (IOException e) {
            throw DiskErrors.failed("read " + rows, e);
        }
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
        private boolean hasAll;

        @Override
        public void accept(long number, ByteBuffer bytes) {
            throw new IllegalStateException("its place is wanted, too");
        }

        @Override
        public void accept(long number, LogPlace place, ByteBuffer bytes) {
            Set<Long> relations = bySegment.computeIfAbsent(place.file(), segment -> new TreeSet<>());
            KeptRows.parts(number, bytes, other -> ByteBuffer.allocate(0), (asOf, part) -> {
                relations.add(Math.abs(part.relation())); // what is remembered beside a stream is the stream's
                hasAll |= asOf > 0;
            });
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
