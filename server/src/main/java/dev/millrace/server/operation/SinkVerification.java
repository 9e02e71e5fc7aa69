package dev.millrace.server.operation;

import dev.millrace.connectors.outbox.SpoolVerification;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.storage.disk.FileReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Reads every byte of what sinks keep of their own, and changes nothing. */
final class SinkVerification {
    private SinkVerification() {}

    private static List<String> notices(SpoolVerification file) {
        return file.endsWithin()
                ? List.of("it ends within a record: it was being written, and no checkpoint has it")
                : List.of();
    }

    static List<FileReport> run(Path directory) throws IOException {
        Path sinks = directory.resolve(DataDirectory.SINKS);
        List<FileReport> reports = new ArrayList<>();
        if (!Files.isDirectory(sinks)) {
            return reports;
        }
        Set<Path> seen = new HashSet<>();
        List<Path> all;
        try (Stream<Path> walk = Files.walk(sinks)) {
            all = walk.sorted().toList();
        }
        for (Path inside : all) {
            if (Files.isDirectory(inside)) {
                for (SpoolVerification file : SpoolVerification.of(inside)) {
                    seen.add(file.file());
                    String name = directory.relativize(file.file()).toString();
                    String contents = file.records() + " records of a sink";
                    reports.add(file.damage()
                            .map(damage -> FileReport.damaged(name, file.bytes(), contents, damage))
                            .orElseGet(() ->
                                    new FileReport(name, file.bytes(), contents, true, List.of(), notices(file))));
                }
            }
        }
        for (Path file : all) {
            if (Files.isRegularFile(file) && !seen.contains(file)) {
                reports.add(FileReport.unknown(directory.relativize(file).toString(), Files.size(file)));
            }
        }
        return reports;
    }
}
