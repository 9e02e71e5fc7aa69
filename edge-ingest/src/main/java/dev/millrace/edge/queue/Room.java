package dev.millrace.edge.queue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Sees to it that a queue's files have no more bytes, and its index no more records, than are allowed. */
final class Room {
    private static final int GROUP_ROWS = 1 << 15;
    private static final int GROUP_SEGMENTS = 64;
    private static final int COPY_BYTES = 1 << 20;

    private final EdgeQueue queue;
    private final QueueOptions options;
    private final Merging merging;

    Room(EdgeQueue queue, QueueOptions options, Merging merging) {
        this.queue = queue;
        this.options = options;
        this.merging = merging;
    }

    /** Makes room for so many bytes; false if nothing more may be thrown away. */
    boolean make(long bytes) throws IOException {
        // A new file with its summary, and what is copied out of an old one, have room of their own.
        long most = options.bytes() - 3 * options.fileBytes();
        while (queue.bytes() + bytes > most || queue.records() > options.records() - 3 * options.fileRecords()) {
            if (!queue.dropDead() && !compact() && !give()) {
                return false;
            }
        }
        return true;
    }

    private List<QueueFile> old() {
        return new ArrayList<>(queue.files().headMap(queue.files().lastKey()).values());
    }

    /** Copies what waits out of a file that is half empty. */
    private boolean compact() throws IOException {
        Optional<QueueFile> emptiest = old().stream()
                .filter(file -> file.live() * 2 < file.end())
                .min(Comparator.comparingDouble(file -> (double) file.live() / file.end()));
        if (emptiest.isEmpty()) {
            return false;
        }
        replace(emptiest.get(), List.of());
        return true;
    }

    private boolean give() throws IOException {
        if (options.whenFull() == WhenFull.NEWEST) {
            return false;
        }
        if (old().isEmpty()) {
            if (queue.all().stream().allMatch(stream -> stream.slots.isEmpty())) {
                return false;
            }
            queue.rotate();
        }
        return options.whenFull() == WhenFull.COARSER && coarsen() || shedOldest();
    }

    private Optional<QueueFile> oldest(Predicate<StreamIndex.Slot> having) {
        for (QueueFile file : old()) {
            for (StreamIndex stream : queue.all()) {
                for (StreamIndex.Slot slot : stream.slots.values()) {
                    if (slot.file() == file && stream.waits(slot) && having.test(slot)) {
                        return Optional.of(file);
                    }
                }
            }
        }
        return Optional.empty();
    }

    // ---- throwing away
    // ----------------------------------------------------------------------------------------------

    private boolean shedOldest() throws IOException {
        Optional<QueueFile> oldest = oldest(slot -> slot.record().kind().hasBytes());
        if (oldest.isEmpty()) {
            return false;
        }
        List<CommitPart> parts = new ArrayList<>();
        for (StreamIndex stream : queue.all()) {
            Optional<QueueRecord> note = Optional.empty();
            for (StreamIndex.Slot slot : List.copyOf(stream.slots.values())) {
                QueueRecord record = slot.record();
                boolean isNote = record.kind() == RecordKind.SHED;
                boolean goes = stream.waits(slot)
                        && slot.file() == oldest.get()
                        && record.kind().hasBytes();
                if (goes) {
                    stream.shedding = stream.shedding.shed(record.rows(), record.numbers());
                }
                if (goes || isNote && stream.waits(slot)) {
                    QueueRecord gone = asNote(record);
                    note = Optional.of(note.isPresent() ? note.get().goneWith(gone, RecordKind.SHED) : gone);
                } else {
                    note.ifPresent(done -> parts.add(new CommitPart.Rows(stream.name, done, new byte[0])));
                    note = Optional.empty();
                }
            }
            note.ifPresent(done -> parts.add(new CommitPart.Rows(stream.name, done, new byte[0])));
            parts.add(stream.part());
        }
        replace(oldest.get(), parts);
        return true;
    }

    private static QueueRecord asNote(QueueRecord record) {
        return new QueueRecord(
                record.from(),
                record.to(),
                RecordKind.SHED,
                record.rows(),
                record.firstMicros(),
                record.lastMicros(),
                0,
                0,
                0,
                0);
    }

    /** The parts of a commit for whose segments there is no room: notes that these are shed, and all else. */
    List<CommitPart> shed(StreamIndex stream, List<CommitPart> parts) {
        List<CommitPart> left = new ArrayList<>();
        Optional<QueueRecord> note = Optional.ofNullable(stream.slots.lastEntry())
                .map(entry -> entry.getValue())
                .filter(slot -> slot.record().kind() == RecordKind.SHED && stream.waits(slot))
                .map(StreamIndex.Slot::record);
        boolean any = false;
        for (CommitPart part : parts) {
            if (part instanceof CommitPart.Rows rows) {
                QueueRecord gone = asNote(rows.record());
                stream.shedding = stream.shedding.shed(gone.rows(), gone.numbers());
                note = Optional.of(note.isPresent() ? note.get().goneWith(gone, RecordKind.SHED) : gone);
                any = true;
            } else {
                left.add(part);
            }
        }
        if (any) {
            note.ifPresent(done -> left.add(new CommitPart.Rows(stream.name, done, new byte[0])));
            left.add(stream.part());
        }
        return left;
    }

    // ---- merging to a wider bound
    // -----------------------------------------------------------------------------------

    private boolean coarsen() throws IOException {
        Optional<QueueFile> oldest = oldest(this::mayBeCoarser);
        if (oldest.isEmpty()) {
            return false;
        }
        List<CommitPart> parts = new ArrayList<>();
        for (StreamIndex stream : queue.all()) {
            List<StreamIndex.Slot> group = new ArrayList<>();
            long rows = 0;
            for (StreamIndex.Slot slot : List.copyOf(stream.slots.values())) {
                boolean belongs = slot.file() == oldest.get() && stream.waits(slot) && mayBeCoarser(slot);
                boolean adjacent = group.isEmpty()
                        || group.get(group.size() - 1).record().to() + 1
                                == slot.record().from();
                boolean fits = rows + slot.record().rows() <= GROUP_ROWS && group.size() < GROUP_SEGMENTS;
                if (!group.isEmpty() && !(belongs && adjacent && fits)) {
                    parts.addAll(merged(stream, group));
                    group.clear();
                    rows = 0;
                }
                if (belongs) {
                    group.add(slot);
                    rows += slot.record().rows();
                }
            }
            if (!group.isEmpty()) {
                parts.addAll(merged(stream, group));
            }
            parts.add(stream.part());
        }
        replace(oldest.get(), parts);
        return true;
    }

    private boolean mayBeCoarser(StreamIndex.Slot slot) {
        return slot.record().kind().hasRows() && slot.record().level() < options.coarsest();
    }

    /** One record of several; those that do not become smaller stay as they are, and are not tried again. */
    private List<CommitPart> merged(StreamIndex stream, List<StreamIndex.Slot> group) throws IOException {
        List<Merging.Readable> segments = new ArrayList<>();
        long bytes = 0;
        long rows = 0;
        int level = 0;
        QueueRecord range = group.get(0).record();
        for (StreamIndex.Slot slot : group) {
            QueueRecord record = slot.record();
            byte[] version = record.needs() == 0
                    ? new byte[0]
                    : stream.versions.getOrDefault(
                            new StreamIndex.VersionKey(record.incarnation(), record.needs()), new byte[0]);
            segments.add(new Merging.Readable(version, slot.file().read(slot.at(), slot.length())));
            bytes += slot.length();
            rows += record.rows();
            level = Math.max(level, record.level());
            range = record == range ? range : range.goneWith(record, RecordKind.COARSER);
        }
        Optional<byte[]> merged = merging.merge(segments);
        boolean smaller = merged.isPresent() && merged.get().length < bytes * 9 / 10;
        if (!smaller) {
            List<CommitPart> same = new ArrayList<>();
            for (int i = 0; i < group.size(); i++) {
                same.add(new CommitPart.Rows(
                        stream.name,
                        asCoarsest(group.get(i).record()),
                        segments.get(i).segment()));
            }
            return same;
        }
        stream.shedding = stream.shedding.coarser(rows, group.size());
        return List.of(new CommitPart.Rows(
                stream.name,
                new QueueRecord(
                        range.from(),
                        range.to(),
                        RecordKind.COARSER,
                        rows,
                        range.firstMicros(),
                        range.lastMicros(),
                        0,
                        0,
                        0,
                        level + 1),
                merged.get()));
    }

    private QueueRecord asCoarsest(QueueRecord record) {
        return new QueueRecord(
                record.from(),
                record.to(),
                record.kind(),
                record.rows(),
                record.firstMicros(),
                record.lastMicros(),
                record.incarnation(),
                record.needs(),
                record.defines(),
                options.coarsest());
    }

    // ---- files
    // ------------------------------------------------------------------------------------------------------

    /** Writes parts, copies out of a file what they leave in it, and removes it. */
    private void replace(QueueFile file, List<CommitPart> parts) throws IOException {
        if (!parts.isEmpty()) {
            queue.append(parts);
        }
        List<CommitPart> copies = new ArrayList<>();
        long bytes = 0;
        for (StreamIndex stream : queue.all()) {
            for (StreamIndex.Slot slot : List.copyOf(stream.slots.values())) {
                if (slot.file() == file) {
                    copies.add(new CommitPart.Rows(stream.name, slot.record(), file.read(slot.at(), slot.length())));
                    bytes += slot.liveBytes();
                }
                if (bytes > COPY_BYTES) {
                    queue.append(copies);
                    copies.clear();
                    bytes = 0;
                }
            }
        }
        if (!copies.isEmpty()) {
            queue.append(copies);
        }
        queue.dropDead();
    }
}
