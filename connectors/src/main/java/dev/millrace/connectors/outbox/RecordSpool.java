package dev.millrace.connectors.outbox;

import dev.millrace.connectors.input.FileErrors;
import dev.millrace.error.MillraceException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** The directory of a sink's records. Files are written by one thread; those that are complete are read and removed by any other. */
final class RecordSpool implements OutboxRows.Records, AutoCloseable {
    private final Path directory;
    private final SpoolRoom room;
    private Optional<SpoolWriter> open = Optional.empty();
    private long lastNumber;

    RecordSpool(Path directory, SpoolRoom room) {
        this.directory = directory;
        this.room = room;
    }

    /**
     * Goes on where a checkpoint was: removes what came later.
     *
     * @param kept that may be delivered already, and gone
     * @return those of them that are there
     * @throws MillraceException XX001 if one is shorter than it was
     */
    List<SpoolEntry> recover(List<SpoolEntry> kept) {
        Map<Long, SpoolEntry> byNumber = new HashMap<>();
        for (SpoolEntry entry : kept) {
            byNumber.put(entry.number(), entry);
            lastNumber = Math.max(lastNumber, entry.number());
        }
        try {
            Files.createDirectories(directory);
            List<SpoolEntry> there = new ArrayList<>();
            try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
                for (Path file : files) {
                    OptionalLong number = SpoolFormat.number(file);
                    if (number.isPresent()) {
                        Optional<SpoolEntry> entry = Optional.ofNullable(byNumber.get(number.getAsLong()));
                        if (entry.isPresent()) {
                            requireLength(file, entry.get());
                            there.add(entry.get());
                        } else {
                            Files.delete(file);
                        }
                    }
                }
            }
            force();
            return kept.stream().filter(there::contains).toList();
        } catch (IOException e) {
            throw FileErrors.opening(directory, "for writing", e);
        }
    }

    private static void requireLength(Path file, SpoolEntry entry) throws IOException {
        long size = Files.size(file);
        if (size < entry.bytes()) {
            throw SpoolFormat.damaged(file, size, "ends, and should at " + entry.bytes());
        }
    }

    @Override
    public void add(byte[] bytes, int offset, int length) {
        if (open.isEmpty()) {
            open = Optional.of(new SpoolWriter(directory, ++lastNumber, room));
        }
        open.get().add(bytes, offset, length);
    }

    /** Of the file that is being written. */
    long openBytes() {
        return open.map(SpoolWriter::bytes).orElse(0L);
    }

    /** Ends the file that is being written, if one is; it outlives a crash when this returns. */
    Optional<SpoolEntry> end(long checkpoint) {
        if (open.isEmpty()) {
            return Optional.empty();
        }
        SpoolEntry entry = open.get().end(checkpoint);
        open = Optional.empty();
        try {
            force();
        } catch (IOException e) {
            throw FileErrors.writing(directory, e);
        }
        return Optional.of(entry);
    }

    private void force() throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** The records of a file that is complete. Any thread. */
    Delivery.Records records(SpoolEntry entry) {
        return new Delivery.Records() {
            @Override
            public long count() {
                return entry.records();
            }

            @Override
            public void forEach(Consumer<ByteBuffer> record) {
                Path file = directory.resolve(SpoolFormat.name(entry.number()));
                try (SpoolReader reader = new SpoolReader(file, entry.number(), entry.bytes())) {
                    long count = reader.forEach(record);
                    if (count != entry.records()) {
                        throw SpoolFormat.damaged(
                                file, entry.bytes(), "has had " + count + " records, not " + entry.records());
                    }
                }
            }
        };
    }

    /** Removes a file that was delivered. Any thread. */
    void remove(SpoolEntry entry) {
        Path file = directory.resolve(SpoolFormat.name(entry.number()));
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw FileErrors.writing(file, e);
        }
    }

    @Override
    public void close() {
        open.ifPresent(SpoolWriter::close);
        open = Optional.empty();
    }
}
