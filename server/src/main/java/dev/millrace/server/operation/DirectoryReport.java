package dev.millrace.server.operation;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.storage.disk.FileReport;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What reading every byte of a data directory found.
 *
 * @param directory which
 * @param user the number of the process that has it open, if one has; empty text where that is not known
 * @param files all that are there, and those that are missing, by their names from the directory on
 */
public record DirectoryReport(Path directory, Optional<String> user, List<FileReport> files) {
    public DirectoryReport {
        files = List.copyOf(files);
    }

    /** Whether no file is damaged or missing. */
    public boolean isWhole() {
        return files.stream().allMatch(FileReport::isWhole);
    }

    /** One object; {@code status} is {@code whole}, {@code damaged} or {@code unknown}. */
    public String json() {
        ObjectNode root = new ObjectMapper().createObjectNode();
        root.put("directory", directory.toString()).put("whole", isWhole());
        user.ifPresent(process -> root.put("in_use_by", process));
        ArrayNode list = root.putArray("files");
        for (FileReport file : files) {
            ObjectNode one = list.addObject()
                    .put("file", file.name())
                    .put("bytes", file.bytes())
                    .put("status", status(file))
                    .put("contents", file.contents());
            file.damage().forEach(one.putArray("damage")::add);
            file.notices().forEach(one.putArray("notices")::add);
        }
        return root.toString();
    }

    private static String status(FileReport file) {
        return !file.isWhole() ? "damaged" : file.known() ? "whole" : "unknown";
    }

    /** For people: a line for each file, with what is wrong with it below. */
    public String text() {
        int width = files.stream().mapToInt(file -> file.name().length()).max().orElse(0);
        StringBuilder text = new StringBuilder();
        for (FileReport file : files) {
            text.append(String.format(
                    Locale.ROOT,
                    "%-8s %-" + Math.max(1, width) + "s %,15d bytes  %s%n",
                    file.isWhole() ? status(file) : "DAMAGED",
                    file.name(),
                    file.bytes(),
                    file.contents()));
            file.damage().forEach(line -> text.append("         ").append(line).append(System.lineSeparator()));
            file.notices().forEach(line -> text.append("         ").append(line).append(System.lineSeparator()));
        }
        long damaged = files.stream().filter(file -> !file.isWhole()).count();
        long bytes = files.stream().mapToLong(FileReport::bytes).sum();
        text.append(String.format(
                Locale.ROOT,
                "%s: %d files, %,d bytes, %s%n",
                directory,
                files.size(),
                bytes,
                damaged == 0 ? "all whole" : damaged + " damaged or missing"));
        user.ifPresent(process -> text.append("It is open" + (process.isEmpty() ? "" : " in process " + process)
                + ": what was written since this began may not have been read." + System.lineSeparator()));
        return text.toString();
    }
}
