package dev.millrace.storage.manifest;

import dev.millrace.error.MillraceException;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.disk.WholeFile;
import dev.millrace.storage.snapshot.SnapshotFile;
import dev.millrace.storage.snapshot.SnapshotReader;
import dev.millrace.storage.snapshot.SnapshotSection;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;

/** Reads every byte of a manifest and of the files that it names, and names the others. For one thread. */
final class ManifestVerification {
    private final Disk disk;
    private final List<FileReport> files = new ArrayList<>();

    private ManifestVerification(Disk disk) {
        this.disk = disk;
    }

    static List<FileReport> run(Disk disk) throws IOException {
        ManifestVerification verification = new ManifestVerification(disk);
        boolean isRead = false;
        try {
            Checkpoint newest = ManifestBytes.read(disk, Manifest.NAME);
            isRead = true;
            verification.files.add(FileReport.whole(
                    Manifest.NAME,
                    WholeFile.length(disk, Manifest.NAME),
                    "checkpoint " + newest.number() + ", up to record " + newest.logNumber() + " of the log, in "
                            + newest.files().size() + " files"));
            for (SnapshotFile file : newest.files()) {
                verification.read(file);
            }
        } catch (MillraceException e) {
            verification.damaged(Manifest.NAME, "which checkpoint counts", e.getMessage());
        } catch (NoSuchFileException e) {
            verification.damaged(Manifest.NAME, "which checkpoint counts", disk.path(Manifest.NAME) + " is missing");
        }
        verification.nameOthers(isRead);
        return verification.files;
    }

    private void damaged(String name, String contents, String damage) throws IOException {
        files.add(FileReport.damaged(name, WholeFile.length(disk, name), contents, damage));
    }

    private void read(SnapshotFile file) throws IOException {
        try (SnapshotReader reader = SnapshotReader.open(disk, file)) {
            List<SnapshotSection> sections = reader.sections();
            files.add(new FileReport(
                    file.name(), file.bytes(), sections.size() + " sections", true, reader.verify(), List.of()));
        } catch (MillraceException e) {
            damaged(file.name(), "a part of the checkpoint", e.getMessage());
        }
    }

    private void nameOthers(boolean isRead) throws IOException {
        for (String name : disk.list()) {
            if (files.stream().anyMatch(file -> file.name().equals(name))) {
                continue;
            }
            boolean unfinished = name.endsWith(".new");
            if (unfinished || Manifest.isOurs(name)) {
                String contents = unfinished
                        ? "not finished: does not count"
                        : isRead
                                ? "of a checkpoint that does not count"
                                : "not read: " + Manifest.NAME + " would say whether it counts";
                files.add(FileReport.whole(name, WholeFile.length(disk, name), contents));
            } else {
                files.add(FileReport.unknown(name, WholeFile.length(disk, name)));
            }
        }
    }
}
