package dev.millrace.connectors.mqtt;

import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.SourceMemory;
import dev.millrace.connectors.push.ArrivalQueue;
import dev.millrace.connectors.push.Consignment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Messages of a stream that takes none for a while, on disk before they are rows: the broker hears that we have them, and goes on sending what others of the
 * connection are to have. By bytes no more than so many; what is beyond waits as it did.
 *
 * <pre>
 *   waits in the inbox -> on disk as {@code parked N}, and acknowledged -> becomes a row, and N is forgotten, in one entry of the journal
 * </pre>
 *
 * What is to be remembered with a row is remembered with N. Owned by one thread, but for what says otherwise.
 */
final class ParkingLot {
    private static final String PARKED = "parked ";
    private static final long WAITED_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final SourceMemory memory;
    private final ArrivalQueue inbox;
    private final long mostBytes;
    private final Set<Consignment> parked = identities(); // those that may still wait
    private long last; // number

    ParkingLot(SourceMemory memory, ArrivalQueue inbox, long mostBytes) {
        this.memory = memory;
        this.inbox = inbox;
        this.mostBytes = mostBytes;
    }

    private static Set<Consignment> identities() {
        return Collections.newSetFromMap(new IdentityHashMap<>());
    }

    /** Has the stream take what was parked when the database was closed. Before anything else comes. */
    void restore() {
        Map<Long, byte[]> left = new TreeMap<>();
        memory.entries().forEach((name, bytes) -> {
            if (name.startsWith(PARKED)) {
                left.put(Long.parseLong(name.substring(PARKED.length())), bytes);
            }
        });
        left.forEach((number, bytes) -> {
            last = number;
            ArrivedMessage message = ParkedMessage.read(bytes);
            Consignment fromDisk = row(message, PARKED + number);
            parked.add(fromDisk);
            inbox.force(fromDisk);
        });
    }

    private static Consignment row(ArrivedMessage message, String name) {
        MemoryChange leaves = new MemoryChange(Map.of(), Set.of(name));
        return new Consignment(List.of(message.payload()), message, message.topic(), leaves, Consignment.Receipt.NONE);
    }

    /** Parks what has waited for a while. Waits for the disk. */
    void park() {
        inbox.rework(WAITED_NANOS, this::parked);
    }

    private List<Consignment> parked(List<Consignment> waiting) {
        Set<Consignment> still = identities();
        still.addAll(waiting);
        parked.retainAll(still); // the others are rows
        long bytes = parked.stream().mapToLong(Consignment::bytes).sum();
        Map<String, byte[]> put = new HashMap<>();
        Set<String> removed = new HashSet<>();
        List<Consignment.Receipt> told = new ArrayList<>();
        List<Consignment> others = new ArrayList<>();
        List<Consignment> fresh = new ArrayList<>();
        for (Consignment each : waiting) {
            boolean isRow = each.about() instanceof ArrivedMessage;
            boolean parks = !isRow
                    || each.about() instanceof ArrivedMessage message
                            && message.qos() > 0
                            && !parked.contains(each)
                            && bytes + each.bytes() <= mostBytes;
            if (!parks) {
                others.add(each);
                continue;
            }
            removed.addAll(each.remembered().removed());
            put.keySet().removeAll(each.remembered().removed());
            put.putAll(each.remembered().put());
            told.add(each.receipt());
            if (each.about() instanceof ArrivedMessage message) {
                String name = PARKED + ++last;
                put.put(name, ParkedMessage.bytes(message));
                Consignment row = row(message, name);
                fresh.add(row);
                others.add(row);
                bytes += each.bytes();
            }
        }
        if (!told.isEmpty()) {
            memory.change(new MemoryChange(put, removed));
            parked.addAll(fresh);
            told.forEach(each -> each.kept(0));
        }
        return others;
    }
}
