package dev.millrace.server.history;

import dev.millrace.server.storage.KnownLog;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.storage.log.LogReport;
import dev.millrace.storage.log.RecordConsumer;
import dev.millrace.storage.log.WriteAheadLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Reads every byte of the histories of a directory that nobody need have open, and changes nothing. */
public final class HistoryVerification {
    private HistoryVerification() {}

    /**
     * What was found, file by file.
     *
     * @param changes the directory of all histories, which need not be there
     * @param known the logs that there should be, by the names of their directories
     * @throws dev.millrace.error.MillraceException 58030 where something cannot be read
     */
    public static List<FileReport> run(Path changes, Map<String, KnownLog> known) {
        List<FileReport> files = new ArrayList<>();
        new TreeMap<>(known)
                .forEach((name, log) -> misfit(changes.resolve(name), log)
                        .ifPresent(what -> files.add(FileReport.damaged(
                                name, 0, "changes of a view, for its durable subscriptions", what))));
        if (!Files.isDirectory(changes)) {
            return files;
        }
        try (Stream<Path> all = Files.list(changes)) {
            for (Path directory : all.filter(Files::isDirectory).sorted().toList()) {
                if (!isEmpty(directory)) {
                    files.addAll(log(directory, Optional.ofNullable(known.get("" + directory.getFileName()))));
                }
            }
        } catch (IOException e) {
            throw DiskErrors.failed("read " + changes, e);
        }
        return files;
    }

    /**
     * The subscriptions of a directory that nobody has open, by the queries that they are to.
     *
     * @param changes the directory of all histories, which need not be there
     * @throws dev.millrace.error.MillraceException 58030 where something cannot be read
     */
    public static Map<String, List<NamedSubscription>> subscriptions(Path changes) {
        Map<String, List<NamedSubscription>> found = new TreeMap<>();
        if (!Files.isDirectory(changes)) {
            return found;
        }
        try (Stream<Path> all = Files.list(changes)) {
            for (Path directory : all.filter(Files::isDirectory).sorted().toList()) {
                if (!isEmpty(directory)) {
                    List<Reading> readings = new ArrayList<>(); // the last one counts
                    WriteAheadLog.verify(RealDisk.readOnly(directory), () -> {
                        readings.add(new Reading(directory));
                        return readings.get(readings.size() - 1);
                    });
                    HistoryContents contents = readings.get(readings.size() - 1).contents;
                    contents.base()
                            .ifPresent(base -> found.put(
                                    base.query(),
                                    List.copyOf(contents.subscriptions().values())));
                }
            }
        } catch (IOException e) {
            throw DiskErrors.failed("read " + changes, e);
        }
        return found;
    }

    private static boolean isEmpty(Path directory) throws IOException {
        try (Stream<Path> inside = Files.list(directory)) {
            return inside.findAny().isEmpty();
        }
    }

    private static Optional<String> misfit(Path directory, KnownLog log) {
        try {
            return Files.exists(directory.resolve(Histories.GIVEN_UP))
                    ? Optional.empty()
                    : log.misfit(RealDisk.readOnly(directory));
        } catch (IOException e) {
            throw DiskErrors.failed("read " + directory, e);
        }
    }

    private static List<FileReport> log(Path directory, Optional<KnownLog> known) {
        List<Reading> readings = new ArrayList<>(); // the last one counts
        String name = String.valueOf(directory.getFileName());
        LogReport report = WriteAheadLog.verify(RealDisk.readOnly(directory), () -> {
            readings.add(new Reading(directory));
            return readings.get(readings.size() - 1);
        });
        Reading last = readings.get(readings.size() - 1);
        List<FileReport> files = new ArrayList<>();
        report.files().forEach(file -> files.add(last.described(file).in(name)));
        if (report.damage().isEmpty()) {
            known.flatMap(log -> log.misfit(RealDisk.readOnly(directory), report.last()))
                    .ifPresent(what -> files.add(FileReport.damaged(name, 0, "the log as a whole", what)));
        }
        return files;
    }

    private static final class Reading implements RecordConsumer {
        private final HistoryContents contents;

        Reading(Path directory) {
            contents = new HistoryContents(directory.toString());
        }

        @Override
        public void accept(long number, ByteBuffer bytes) {
            contents.accept(number, bytes);
        }

        FileReport described(FileReport file) {
            String what = contents.base()
                    .map(base -> ": changes of " + base.query() + ", for "
                            + String.join(", ", contents.subscriptions().keySet()))
                    .orElse("");
            return new FileReport(
                    file.name(), file.bytes(), file.contents() + what, file.known(), file.damage(), file.notices());
        }
    }
}
