package dev.millrace.storage.log;

import java.util.List;

/**
 * What reading every byte of a log found.
 *
 * @param first number of the first record, 0 where there is none
 * @param last number of the last record, 0 where there is none
 * @param records how many whole ones were read
 * @param bytes of their contents
 * @param damage one line for each, naming file, offset and record
 * @param notices what is no damage, as a torn end
 */
public record LogReport(long first, long last, long records, long bytes, List<String> damage, List<String> notices) {
    public LogReport {
        damage = List.copyOf(damage);
        notices = List.copyOf(notices);
    }
}
