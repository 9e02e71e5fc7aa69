package dev.millrace.edge.queue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Where what one stream has is on the disk. */
final class StreamIndex {
    private static final int PART_BYTES = 80; // of a record besides its own, about

    final String name;
    final NavigableMap<Long, Slot> slots = new TreeMap<>(); // by first number
    final Map<VersionKey, byte[]> versions = new LinkedHashMap<>();
    final Map<String, OpenSlot> opens = new LinkedHashMap<>();
    final Map<String, OpenSlot> groups = new LinkedHashMap<>(); // open ones of windows, by their programs
    final Set<Long> pinned = new HashSet<>(); // incarnations whose newest version may be referred to again
    long next = 1;
    long acknowledged;
    long doubt;
    Shedding shedding = Shedding.NONE;
    Optional<String> place = Optional.empty();
    Optional<CommitPart.Settings> settings = Optional.empty();
    TakenCounts counts = TakenCounts.NONE;
    private long rows;
    private long bytes;

    /** A record, and where its bytes are. */
    record Slot(QueueRecord record, QueueFile file, long at, int length) {
        long liveBytes() {
            return PART_BYTES + length;
        }
    }

    record OpenSlot(QueueFile file, long at, int length) {}

    record VersionKey(long incarnation, int number) {}

    StreamIndex(String name) {
        this.name = name;
    }

    /** A record, in the place of those that have its numbers. */
    void put(Slot slot) {
        QueueRecord record = slot.record();
        List<Slot> covered = new ArrayList<>(
                slots.subMap(record.from(), true, record.to(), true).values());
        covered.forEach(this::remove);
        next = Math.max(next, record.to() + 1);
        if (record.to() > acknowledged) {
            slots.put(record.from(), slot);
            slot.file().addLive(slot.liveBytes());
            rows += record.kind().hasRows() ? record.rows() : 0;
            bytes += slot.length();
        }
    }

    private void remove(Slot slot) {
        slots.remove(slot.record().from());
        slot.file().addLive(-slot.liveBytes());
        rows -= slot.record().kind().hasRows() ? slot.record().rows() : 0;
        bytes -= slot.length();
    }

    /** Forgets what the server has. */
    void acknowledge(long upTo) {
        acknowledged = Math.max(acknowledged, upTo);
        doubt = Math.max(doubt, acknowledged);
        next = Math.max(next, acknowledged + 1);
        while (!slots.isEmpty() && slots.firstEntry().getValue().record().to() <= acknowledged) {
            remove(slots.firstEntry().getValue());
        }
    }

    void set(CommitPart.Stream stream) {
        acknowledge(stream.acknowledged());
        next = Math.max(next, stream.next());
        doubt = stream.doubt();
        shedding = stream.shedding();
    }

    CommitPart.Stream part() {
        return new CommitPart.Stream(name, next, acknowledged, doubt, shedding);
    }

    boolean waits(Slot slot) {
        return slot.record().from() > doubt;
    }

    long rows() {
        return rows;
    }

    long bytes() {
        return bytes;
    }

    /** What comes after may forget all but records and numbers, as a summary follows. */
    void beginSummary() {
        versions.clear();
        opens.clear();
        groups.clear();
        place = Optional.empty();
        settings = Optional.empty();
        counts = TakenCounts.NONE;
    }

    /** Forgets versions that nothing refers to any more. */
    void forgetVersions() {
        Set<VersionKey> needed = new HashSet<>();
        for (Slot slot : slots.values()) {
            if (slot.record().needs() > 0) {
                needed.add(new VersionKey(
                        slot.record().incarnation(), slot.record().needs()));
            }
        }
        Map<Long, Integer> newest = new HashMap<>();
        versions.keySet().forEach(key -> newest.merge(key.incarnation(), key.number(), Math::max));
        versions.keySet()
                .removeIf(key -> !needed.contains(key)
                        && !(pinned.contains(key.incarnation())
                                && key.number() == newest.getOrDefault(key.incarnation(), 0)));
    }

    /** Numbers that should be there and are not, as pairs of the first and the last. */
    List<long[]> gaps() {
        List<long[]> gaps = new ArrayList<>();
        long expected = acknowledged + 1;
        for (Slot slot : slots.values()) {
            if (slot.record().from() > expected) {
                gaps.add(new long[] {expected, slot.record().from() - 1});
            }
            expected = slot.record().to() + 1;
        }
        if (expected < next) {
            gaps.add(new long[] {expected, next - 1});
        }
        return gaps;
    }
}
