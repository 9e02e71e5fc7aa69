package dev.millrace.storage.log;

import dev.millrace.storage.disk.FileReport;
import java.util.List;

/**
 * What reading every byte of a log found.
 *
 * @param first number of the first record, 0 where there is none
 * @param last number of the last record, also of one that was forgotten; 0 where there was none
 * @param before number behind which all are there: of the last that was forgotten, 0 where none was
 * @param records how many whole ones were read
 * @param bytes of their contents
 * @param files all that are there, and those that are missing
 */
public record LogReport(long first, long last, long before, long records, long bytes, List<FileReport> files) {
    public LogReport {
        files = List.copyOf(files);
    }

    /** One line for each, naming file, offset and record. */
    public List<String> damage() {
        return files.stream().flatMap(file -> file.damage().stream()).toList();
    }

    /** What is no damage, as a torn end. */
    public List<String> notices() {
        return files.stream().flatMap(file -> file.notices().stream()).toList();
    }
}
