package dev.millrace.server.history;

import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.storage.log.RecordConsumer;
import dev.millrace.storage.log.WriteAheadLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Reads every byte of the histories of a directory that nobody need have open, and changes nothing. */
public final class HistoryVerification {
    private HistoryVerification() {}

    /**
     * What was found, file by file.
     *
     * @param changes the directory of all histories
     * @throws dev.millrace.error.MillraceException 58030 where something cannot be read
     */
    public static List<FileReport> run(Path changes) {
        List<FileReport> files = new ArrayList<>();
        try (Stream<Path> all = Files.list(changes)) {
            for (Path directory : all.filter(Files::isDirectory).sorted().toList()) {
                if (!isEmpty(directory)) {
                    files.addAll(log(directory));
                }
            }
        } catch (IOException e) {
            throw DiskErrors.failed("read " + changes, e);
        }
        return files;
    }

    private static boolean isEmpty(Path directory) throws IOException {
        try (Stream<Path> inside = Files.list(directory)) {
            return inside.findAny().isEmpty();
        }
    }

    private static List<FileReport> log(Path directory) {
        List<Reading> readings = new ArrayList<>(); // the last one counts
        String name = String.valueOf(directory.getFileName());
        List<FileReport> files = WriteAheadLog.verify(RealDisk.readOnly(directory), () -> {
                    readings.add(new Reading(directory));
                    return readings.get(readings.size() - 1);
                })
                .files();
        Reading last = readings.get(readings.size() - 1);
        return files.stream().map(file -> last.described(file).in(name)).toList();
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
