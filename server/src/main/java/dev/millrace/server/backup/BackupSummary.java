package dev.millrace.server.backup;

import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/**
 * What was backed up, or restored.
 *
 * @param directory where it is
 * @param asOfMicros of which moment it is, in microseconds since 1970 UTC
 */
public record BackupSummary(Path directory, int files, long bytes, long asOfMicros) {
    /** {@code /backups/monday: 12 files, 3,456 bytes, as of 2026-11-23T21:00:00.123456Z}. */
    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%s: %d files, %,d bytes, as of %s",
                directory,
                files,
                bytes,
                Instant.EPOCH.plus(asOfMicros, ChronoUnit.MICROS));
    }
}
