package dev.millrace.edge.queue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The log of a device, as the package's description says. What the disk refuses is thrown as 53100 or 58030 and has not happened: it may be
 * tried again. Not thread-safe.
 *
 * <p>Long because reading, writing and sending share where a record is, and each kind of record has a method to write it.
 */
public final class EdgeQueue implements AutoCloseable {
    private static final int DOUBT_STEP = 64; // numbers that may be sent without writing that down
    private static final int VERSIONS = 256; // after which those are looked for that nothing refers to

    private final Disk disk;
    private final QueueOptions options;
    private final NavigableMap<Long, QueueFile> files = new TreeMap<>(); // by number
    private final Map<String, StreamIndex> streams = new TreeMap<>();
    private final Room room;
    private long identity;
    private long summaryEnd; // of the newest file
    private int recordsOfNewest; // that it was given
    private boolean mustRotate = true; // the newest file takes nothing more
    private boolean unsaved; // numbers that were acknowledged and are not on disk

    /** How a stream is. */
    public record Backlog(long rows, long records, long bytes, long acknowledged, long next, Shedding shedding) {}

    /** A record with its bytes. */
    public record Found(QueueRecord record, byte[] bytes) {}

    private EdgeQueue(Disk disk, QueueOptions options, Merging merging) {
        this.disk = disk;
        this.options = options;
        this.room = new Room(this, options, merging);
    }

    /**
     * Opens what is there, or begins anew.
     *
     * @param disk a directory that nobody else uses
     * @throws MillraceException 58030 or 53100 if the disk fails, F0000 if a later version wrote the files
     */
    public static EdgeQueue open(Disk disk, QueueOptions options, Merging merging) {
        EdgeQueue queue = new EdgeQueue(disk, options, merging);
        try {
            queue.read();
            queue.noteLost();
            if (queue.mustRotate) {
                queue.rotate(); // nothing is added to a file of an earlier life
            }
            return queue;
        } catch (IOException e) {
            queue.close();
            throw DiskErrors.failed("open the queue in " + disk.path("."), e);
        } catch (RuntimeException e) {
            queue.close();
            throw e;
        }
    }

    // ---- reading what is there
    // --------------------------------------------------------------------------------------

    private void read() throws IOException {
        List<QueueFile> there = new ArrayList<>();
        for (String name : disk.list()) {
            if (name.startsWith("queue-")) {
                Optional<QueueFile> file = QueueFile.open(disk, name);
                file.ifPresent(there::add);
                if (file.isEmpty()) {
                    disk.delete(name); // cut off while it was made, or damaged: what is missing then is noted
                }
            }
        }
        for (int i = 0; i < there.size(); i++) {
            QueueFile file = there.get(i);
            boolean followed = i + 1 < there.size()
                    && there.get(i + 1).header().number() == file.header().number() + 1;
            long until = followed ? there.get(i + 1).header().endBefore() : Long.MAX_VALUE;
            files.put(file.header().number(), file);
            identity = file.header().identity();
            boolean summary = true;
            Optional<byte[]> parts;
            while ((parts = file.next(Math.min(until, file.length()))).isPresent()) {
                if (summary) {
                    streams.values().forEach(StreamIndex::beginSummary);
                    summary = false;
                }
                apply(parts.get(), file, file.end() - parts.get().length);
            }
            file.cut();
        }
        if (files.isEmpty()) {
            identity = options.identities().getAsLong();
        }
    }

    /** Numbers that are gone are told to the server as such, so that nobody waits for them. */
    private void noteLost() throws IOException {
        List<CommitPart> parts = new ArrayList<>();
        for (StreamIndex stream : streams.values()) {
            for (long[] gap : stream.gaps()) {
                QueueRecord lost = new QueueRecord(gap[0], gap[1], RecordKind.LOST, 0, 0, 0, 0, 0, 0, 0);
                parts.add(new CommitPart.Rows(stream.name, lost, new byte[0]));
                stream.shedding = stream.shedding.lost(lost.numbers());
            }
        }
        if (!parts.isEmpty()) {
            append(parts);
        }
    }

    private void apply(byte[] parts, QueueFile file, long base) {
        PartCodec.read(parts, (part, at, length) -> {
            if (part instanceof CommitPart.Rows rows) {
                stream(rows.stream()).put(new StreamIndex.Slot(rows.record(), file, base + at, rows.bytes().length));
                recordsOfNewest++;
            } else if (part instanceof CommitPart.Version version) {
                stream(version.stream())
                        .versions
                        .put(new StreamIndex.VersionKey(version.incarnation(), version.number()), version.bytes());
            } else if (part instanceof CommitPart.Open open) {
                put(stream(open.stream()).opens, open.key(), file, base + at, open.bytes().length);
            } else if (part instanceof CommitPart.Groups groups) {
                put(stream(groups.stream()).groups, groups.program(), file, base + at, groups.bytes().length);
            } else if (part instanceof CommitPart.Place place) {
                stream(place.stream()).place = Optional.of(place.text());
            } else if (part instanceof CommitPart.Stream of) {
                stream(of.stream()).set(of);
            } else if (part instanceof CommitPart.Settings settings) {
                stream(settings.stream()).settings = Optional.of(settings);
            } else if (part instanceof CommitPart.Counts counts) {
                stream(counts.stream()).counts = counts.counts();
            }
        });
    }

    private static void put(Map<String, StreamIndex.OpenSlot> slots, String key, QueueFile file, long at, int length) {
        if (length == 0) {
            slots.remove(key);
        } else {
            slots.put(key, new StreamIndex.OpenSlot(file, at, length));
        }
    }

    private StreamIndex stream(String name) {
        return streams.computeIfAbsent(name, StreamIndex::new);
    }

    // ---- writing
    // ----------------------------------------------------------------------------------------------------

    /** A commit to be filled, of one stream; nothing is written before {@link Commit#write}. */
    public Commit begin(String stream) {
        return new Commit(stream);
    }

    /** What becomes part of the queue at once. */
    public final class Commit {
        private final StreamIndex of;
        private final List<CommitPart> parts = new ArrayList<>();
        private long next;

        private Commit(String stream) {
            this.of = stream(stream);
            this.next = of.next;
        }

        /** A segment; it gets the next number. */
        public Commit segment(
                long rows, long firstMicros, long lastMicros, long incarnation, int needs, int defines, byte[] bytes) {
            QueueRecord record = new QueueRecord(
                    next, next, RecordKind.SEGMENT, rows, firstMicros, lastMicros, incarnation, needs, defines, 0);
            parts.add(new CommitPart.Rows(of.name, record, bytes));
            next++;
            return this;
        }

        /** Partial aggregates of windows, which stand for so many rows; it gets the next number. */
        public Commit partials(long rows, long latestMicros, byte[] bytes) {
            QueueRecord record =
                    new QueueRecord(next, next, RecordKind.PARTIALS, rows, latestMicros, latestMicros, 0, 0, 0, 0);
            parts.add(new CommitPart.Rows(of.name, record, bytes));
            next++;
            return this;
        }

        /** The open groups of a program's windows, in the place of earlier ones; without bytes it has none. */
        public Commit groups(String program, byte[] bytes) {
            if (bytes.length > 0 || of.groups.containsKey(program)) {
                parts.add(new CommitPart.Groups(of.name, program, bytes));
            }
            return this;
        }

        /** Records of the input that were no rows; it gets the next number. */
        public Commit rejected(RejectedLines records) {
            QueueRecord record = new QueueRecord(next, next, RecordKind.REJECTED, 0, 0, 0, 0, 0, 0, 0);
            parts.add(new CommitPart.Rows(of.name, record, records.bytes()));
            next++;
            return this;
        }

        /** The bins of a version, as an announcement. */
        public Commit version(long incarnation, int number, byte[] bytes) {
            parts.add(new CommitPart.Version(of.name, incarnation, number, bytes));
            return this;
        }

        /** The open segment of a key, in the place of an earlier one; without bytes it has none. */
        public Commit open(String key, byte[] bytes) {
            if (bytes.length > 0 || of.opens.containsKey(key)) {
                parts.add(new CommitPart.Open(of.name, key, bytes));
            }
            return this;
        }

        /** The place of the input up to which this and what is before it is all. */
        public Commit place(String text) {
            if (!of.place.equals(Optional.of(text))) {
                parts.add(new CommitPart.Place(of.name, text));
            }
            return this;
        }

        /** What became of records up to there. */
        public Commit counts(TakenCounts counts) {
            if (!of.counts.equals(counts)) {
                parts.add(new CommitPart.Counts(of.name, counts));
            }
            return this;
        }

        /** What the server has set. */
        public Commit settings(long number, String text) {
            parts.add(new CommitPart.Settings(of.name, number, text));
            return this;
        }

        public boolean isEmpty() {
            return parts.isEmpty();
        }

        /** Writes it; it is on disk when this returns. Of a queue that is full, and that throws away what is to come, the segments are shed. */
        public void write() {
            if (parts.isEmpty()) {
                return;
            }
            EdgeQueue.this.write(() -> {
                List<CommitPart> all = parts;
                if (!room.make(PartCodec.length(parts))) {
                    all = room.shed(of, parts);
                }
                append(all);
            });
        }
    }

    private interface Writing {
        void run() throws IOException;
    }

    private void write(Writing work) {
        Map<StreamIndex, CommitPart.Stream> before = new HashMap<>();
        streams.values().forEach(stream -> before.put(stream, stream.part()));
        try {
            work.run();
        } catch (IOException e) {
            mustRotate = true; // what is behind the last commit is not known
            before.forEach((stream, part) -> {
                stream.shedding = part.shedding();
                stream.doubt = part.doubt();
            });
            throw DiskErrors.failed("write to the queue in " + disk.path("."), e);
        }
    }

    /** Adds a commit, in a new file where the newest is long enough. */
    void append(List<CommitPart> parts) throws IOException {
        if (mustRotate
                || newest().end() > options.fileBytes() + summaryEnd
                || recordsOfNewest > options.fileRecords()) {
            rotate();
        }
        byte[] bytes = PartCodec.write(parts);
        try {
            long at = newest().append(bytes);
            apply(bytes, newest(), at);
        } catch (IOException e) {
            mustRotate = true;
            throw e;
        }
    }

    QueueFile newest() {
        return files.lastEntry().getValue();
    }

    /** Begins a new file with a summary of all that is no record. */
    void rotate() throws IOException {
        List<CommitPart> parts = new ArrayList<>();
        for (StreamIndex stream : streams.values()) {
            stream.forgetVersions();
            parts.add(stream.part());
            stream.versions.forEach((key, bytes) ->
                    parts.add(new CommitPart.Version(stream.name, key.incarnation(), key.number(), bytes)));
            for (Map.Entry<String, StreamIndex.OpenSlot> open : stream.opens.entrySet()) {
                StreamIndex.OpenSlot slot = open.getValue();
                parts.add(new CommitPart.Open(
                        stream.name, open.getKey(), slot.file().read(slot.at(), slot.length())));
            }
            for (Map.Entry<String, StreamIndex.OpenSlot> open : stream.groups.entrySet()) {
                StreamIndex.OpenSlot slot = open.getValue();
                parts.add(new CommitPart.Groups(
                        stream.name, open.getKey(), slot.file().read(slot.at(), slot.length())));
            }
            stream.place.ifPresent(text -> parts.add(new CommitPart.Place(stream.name, text)));
            stream.settings.ifPresent(parts::add);
            parts.add(new CommitPart.Counts(stream.name, stream.counts));
        }
        if (parts.isEmpty()) {
            parts.add(new CommitPart.Place("", "")); // a commit has something in it
        }
        long number = files.isEmpty() ? 1 : files.lastKey() + 1;
        long endBefore = files.isEmpty() ? 0 : newest().end();
        QueueFile file = QueueFile.create(disk, new QueueFile.Header(identity, number, endBefore));
        try {
            byte[] bytes = PartCodec.write(parts);
            long at = file.append(bytes);
            disk.forceNames();
            files.put(number, file);
            apply(bytes, file, at);
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
        summaryEnd = file.end();
        recordsOfNewest = 0;
        mustRotate = false;
        unsaved = false;
        dropDead();
    }

    /** Removes files in which nothing waits. @return whether there were any */
    boolean dropDead() throws IOException {
        boolean any = false;
        for (QueueFile file : List.copyOf(files.headMap(files.lastKey()).values())) {
            if (file.live() == 0) {
                if (unsaved) {
                    unsaved = false; // what is acknowledged is on disk before records are gone
                    List<CommitPart> parts = new ArrayList<>();
                    streams.values().forEach(stream -> parts.add(stream.part()));
                    append(parts);
                }
                remove(file);
                any = true;
            }
        }
        return any;
    }

    void remove(QueueFile file) throws IOException {
        files.remove(file.header().number());
        file.delete();
    }

    Collection<StreamIndex> all() {
        return streams.values();
    }

    NavigableMap<Long, QueueFile> files() {
        return files;
    }

    /** Records that wait, of all streams. */
    public int records() {
        return streams.values().stream().mapToInt(stream -> stream.slots.size()).sum();
    }

    /** Bytes that the files have. */
    public long bytes() {
        return files.values().stream().mapToLong(QueueFile::end).sum();
    }

    // ---- sending
    // ----------------------------------------------------------------------------------------------------

    /** Drawn at random when the queue was made: numbers mean nothing beyond it. */
    public long identity() {
        return identity;
    }

    /** The record that has the first number from this one on. */
    public Optional<QueueRecord> from(String stream, long number) {
        return slot(stream, number).map(StreamIndex.Slot::record);
    }

    private Optional<StreamIndex.Slot> slot(String name, long number) {
        NavigableMap<Long, StreamIndex.Slot> slots = stream(name).slots;
        Map.Entry<Long, StreamIndex.Slot> floor = slots.floorEntry(number);
        if (floor != null && floor.getValue().record().to() >= number) {
            return Optional.of(floor.getValue());
        }
        return Optional.ofNullable(slots.ceilingEntry(number)).map(Map.Entry::getValue);
    }

    /** The same with its bytes, which may be sent: from now on it is in doubt. */
    public Optional<Found> take(String stream, long number) {
        Optional<StreamIndex.Slot> slot = slot(stream, number);
        if (slot.isEmpty()) {
            return Optional.empty();
        }
        StreamIndex of = stream(stream);
        QueueRecord record = slot.get().record();
        Found[] found = new Found[1];
        write(() -> {
            if (record.to() > of.doubt) {
                of.doubt = Math.max(record.to(), Math.min(of.next - 1, record.to() + DOUBT_STEP - 1));
                append(List.of(of.part()));
            }
            found[0] = new Found(
                    record, slot.get().file().read(slot.get().at(), slot.get().length()));
        });
        return Optional.of(found[0]);
    }

    /** The announcement of a version that waiting segments refer to. */
    public Optional<byte[]> version(String stream, long incarnation, int number) {
        return Optional.ofNullable(stream(stream).versions.get(new StreamIndex.VersionKey(incarnation, number)));
    }

    /** The server has all up to a number on disk. */
    public void acknowledge(String name, long upTo) {
        StreamIndex stream = stream(name);
        if (upTo > stream.acknowledged) {
            stream.acknowledge(upTo);
            unsaved = true;
            if (stream.versions.size() > VERSIONS) {
                stream.forgetVersions();
            }
            write(this::dropDead);
        }
    }

    /** The server has all up to a number, and no connection brings it anything any more: there is no doubt about what is behind it. */
    public void settle(String name, long upTo) {
        acknowledge(name, upTo);
        stream(name).doubt = stream(name).acknowledged;
    }

    // ---- what is kept
    // -----------------------------------------------------------------------------------------------

    /** The newest version of an incarnation may be referred to again, for as long as it is pinned. */
    public void pin(String stream, long incarnation) {
        stream(stream).pinned.add(incarnation);
    }

    public void unpin(String stream, long incarnation) {
        stream(stream).pinned.remove(incarnation);
    }

    /** Open segments by their keys. */
    public Map<String, byte[]> opens(String stream) {
        return bytes(stream(stream).opens);
    }

    /** Open groups of windows, by their programs. */
    public Map<String, byte[]> groups(String stream) {
        return bytes(stream(stream).groups);
    }

    private Map<String, byte[]> bytes(Map<String, StreamIndex.OpenSlot> slots) {
        Map<String, byte[]> all = new TreeMap<>();
        write(() -> {
            for (Map.Entry<String, StreamIndex.OpenSlot> open : slots.entrySet()) {
                StreamIndex.OpenSlot slot = open.getValue();
                all.put(open.getKey(), slot.file().read(slot.at(), slot.length()));
            }
        });
        return all;
    }

    public TakenCounts counts(String stream) {
        return stream(stream).counts;
    }

    public Optional<String> place(String stream) {
        return stream(stream).place;
    }

    public long settingsNumber(String stream) {
        return stream(stream).settings.map(CommitPart.Settings::number).orElse(0L);
    }

    public Optional<String> settings(String stream) {
        return stream(stream).settings.map(CommitPart.Settings::text);
    }

    public Backlog backlog(String name) {
        StreamIndex stream = stream(name);
        return new Backlog(
                stream.rows(), stream.slots.size(), stream.bytes(), stream.acknowledged, stream.next, stream.shedding);
    }

    @Override
    public void close() {
        IOException failure = null;
        for (QueueFile file : files.values()) {
            try {
                file.close();
            } catch (IOException e) {
                failure = e;
            }
        }
        files.clear();
        if (failure != null) {
            throw MillraceException.external(SqlState.IO_ERROR, "cannot close the queue", failure);
        }
    }
}
