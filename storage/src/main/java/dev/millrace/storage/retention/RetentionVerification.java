package dev.millrace.storage.retention;

import dev.millrace.error.MillraceException;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.disk.WholeFile;
import dev.millrace.storage.segment.ColumnSegment;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads every byte of what a stream keeps, and names the other files of its directory. For one thread. */
public final class RetentionVerification {
    private static final int MOST_TRIES = 3;

    private final Disk disk;
    private final Schema kept;
    private final KnownPast known;
    private final List<FileReport> files = new ArrayList<>();

    private RetentionVerification(Disk disk, Schema kept, KnownPast known) {
        this.disk = disk;
        this.kept = kept;
        this.known = known;
    }

    /**
     * Reads all; once more, a few times at most, where files are missing because somebody merged or dropped segments meanwhile.
     *
     * @param schema of the stream
     * @param known of it beside it
     * @return what was found, file by file
     * @throws MillraceException 58030 where something cannot be read
     */
    public static List<FileReport> run(Disk disk, Schema schema, KnownPast known) {
        Schema kept = RetainedRows.kept(schema);
        try {
            for (int i = 1; ; i++) {
                Optional<SegmentList> before = list(disk);
                List<FileReport> files = new RetentionVerification(disk, kept, known).read();
                boolean whole = files.stream().allMatch(FileReport::isWhole);
                if (whole || i == MOST_TRIES || before.equals(list(disk))) {
                    return files;
                }
            }
        } catch (IOException e) {
            throw DiskErrors.failed("read " + disk.path(SegmentList.NAME), e);
        }
    }

    private static Optional<SegmentList> list(Disk disk) throws IOException {
        try {
            return Optional.of(SegmentList.read(disk));
        } catch (MillraceException | NoSuchFileException e) {
            return Optional.empty();
        }
    }

    private List<FileReport> read() throws IOException {
        boolean isRead = false;
        String contents = "which segments the stream has";
        try {
            SegmentList list = SegmentList.read(disk);
            isRead = true;
            files.add(FileReport.whole(
                    SegmentList.NAME,
                    WholeFile.length(disk, SegmentList.NAME),
                    list.segments().size() + " segments, up to record " + list.lastEntry() + " of the log"));
            Optional<String> misfit = known.misfit(list);
            if (misfit.isPresent()) {
                damaged(SegmentList.NAME, contents, disk.path(SegmentList.NAME) + ": " + misfit.get());
            }
            for (KeptSegment segment : list.segments()) {
                read(segment);
            }
        } catch (MillraceException e) {
            damaged(SegmentList.NAME, contents, e.getMessage());
        } catch (NoSuchFileException e) {
            damaged(SegmentList.NAME, contents, disk.path(SegmentList.NAME) + " is missing");
        }
        nameOthers(isRead);
        return files;
    }

    private void read(KeptSegment kept) throws IOException {
        String name = kept.file().name();
        String contents = kept.file().rows() + " rows, of records " + kept.firstEntry() + " to " + kept.lastEntry()
                + (kept.isSketched() ? ", sketched" : "");
        try (ColumnSegment segment =
                ColumnSegment.open(disk, kept.file(), kept.isSketched() ? RetainedRows.stored(this.kept) : this.kept)) {
            files.add(new FileReport(name, kept.file().bytes(), contents, true, segment.verify(), List.of()));
        } catch (MillraceException e) {
            damaged(name, contents, e.getMessage());
        }
    }

    private void damaged(String name, String contents, String damage) throws IOException {
        files.add(FileReport.damaged(name, WholeFile.length(disk, name), contents, damage));
    }

    private void nameOthers(boolean isRead) throws IOException {
        for (String name : disk.list()) {
            if (files.stream().anyMatch(file -> file.name().equals(name))) {
                continue;
            }
            if (name.endsWith(".new")) {
                files.add(FileReport.whole(name, WholeFile.length(disk, name), "not finished: does not count"));
            } else if (KeptSegment.numberOf(name).isPresent()) {
                String contents = isRead
                        ? "a segment that does not count"
                        : "not read: " + SegmentList.NAME + " would say whether it counts";
                files.add(FileReport.whole(name, WholeFile.length(disk, name), contents));
            } else {
                files.add(FileReport.unknown(name, WholeFile.length(disk, name)));
            }
        }
    }
}
