package dev.millrace.server.backup;

import dev.millrace.server.storage.DataDirectory;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.FileImage;
import dev.millrace.storage.disk.RealDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What sinks keep of their own, as it is at one moment. Sinks remove files whose records are delivered, so the files have another name (a link) until they are copied;
 * one that is gone before that is outside, which the sink asks for.
 */
final class SinkImages implements AutoCloseable {
    private static final String LINKS = "image";

    private final List<Path> links = new ArrayList<>();
    private final List<FileImage> files = new ArrayList<>();

    SinkImages(DataDirectory directory) {
        try {
            for (Map.Entry<Long, Path> sink : directory.sinkDirectories().entrySet()) {
                Path linked = sink.getValue().resolve(LINKS);
                remove(linked);
                Files.createDirectories(linked);
                links.add(linked);
                link(sink.getValue(), linked, DataDirectory.SINKS + "/" + sink.getKey());
            }
        } catch (IOException e) {
            close();
            throw DiskErrors.failed("link the files of sinks", e);
        }
    }

    private void link(Path from, Path linked, String name) throws IOException {
        RealDisk disk = RealDisk.readOnly(linked);
        try (Stream<Path> all = Files.list(from)) {
            for (Path file : all.filter(Files::isRegularFile).sorted().toList()) {
                String own = String.valueOf(file.getFileName());
                try {
                    Files.createLink(linked.resolve(own), file);
                    files.add(FileImage.of(disk, own).in(name));
                } catch (NoSuchFileException e) {
                    continue; // delivered meanwhile
                }
            }
        }
    }

    List<FileImage> files() {
        return files;
    }

    @Override
    public void close() {
        links.forEach(SinkImages::remove);
    }

    private static void remove(Path linked) {
        if (!Files.exists(linked)) {
            return;
        }
        try (Stream<Path> all = Files.walk(linked)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        } catch (IOException | UncheckedIOException e) {
            throw DiskErrors.failed("remove " + linked, e instanceof IOException known ? known : new IOException(e));
        }
    }
}
