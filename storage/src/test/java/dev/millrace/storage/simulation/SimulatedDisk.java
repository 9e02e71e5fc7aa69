package dev.millrace.storage.simulation;

import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskFile;
import dev.millrace.storage.disk.DiskFullException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.zip.CRC32C;

/**
 * A directory in memory with what the machine would find of it if it stopped now.
 *
 * <p>Each file remembers the writes since its last force. {@link #crash} keeps of each sector of 512 bytes any of the versions that it had
 * since, and of the names a part of what was done to them since these were last forced, the first of it or any. Faults happen with the
 * probabilities that the test sets, or are asked for. Any thread; what happens is decided by the seed as long as one thread uses it.
 */
public final class SimulatedDisk implements Disk {
    private static final int SECTOR = 512;

    /** What happens by chance, as one in so many calls; 0 for never. */
    public static final class Chances {
        public int writeErrorOneIn;
        public int forceErrorOneIn;
        public int fullOneIn;
        public int slowForceOneIn;
        public int readErrorOneIn;
        public int stallOneIn;
        /** The process ends behind a rename, in the next call. */
        public int killAfterRenameOneIn;
    }

    private final Machine machine;
    private final Random random;
    private final String directory;
    private final Map<String, SimulatedDisk> directories = new TreeMap<>();
    private final Map<DiskFault, Integer> happened;
    private final Chances chances;
    private Map<String, Content> names = new TreeMap<>();
    private Map<String, Content> forcedNames = new TreeMap<>();
    private final List<NameChange> nameChanges = new ArrayList<>();

    /** What all directories share, between two crashes. */
    private static final class Machine {
        private final SimulatedDisk root;
        private final CRC32C written = new CRC32C();
        private LongConsumer slowness = millis -> {};
        private Consumer<String> meanwhile = name -> {};
        private long capacityBytes = Long.MAX_VALUE;
        private int killIn = -1; // calls until the process ends; -1 for never
        private boolean dead;

        Machine(SimulatedDisk root) {
            this.root = root;
        }
    }

    private interface NameChange {
        void apply(Map<String, Content> to);
    }

    public SimulatedDisk(long seed) {
        this.machine = new Machine(this);
        this.random = new Random(seed);
        this.directory = "";
        this.happened = new EnumMap<>(DiskFault.class);
        this.chances = new Chances();
    }

    /** @param in the directory that this is in; none where it is the one that all others are in */
    private SimulatedDisk(Optional<SimulatedDisk> in, SimulatedDisk as, String directory) {
        this.machine = in.map(outer -> outer.machine).orElseGet(() -> new Machine(this));
        this.random = as.random;
        this.directory = directory;
        this.happened = as.happened;
        this.chances = as.chances;
    }

    /** What happens by chance from now on; also after crashes. */
    public Chances chances() {
        return chances;
    }

    /** Nothing more happens by chance, and nobody is killed. */
    public synchronized void calm() {
        machine.killIn = -1;
        chances.writeErrorOneIn = 0;
        chances.forceErrorOneIn = 0;
        chances.fullOneIn = 0;
        chances.slowForceOneIn = 0;
        chances.readErrorOneIn = 0;
        chances.stallOneIn = 0;
        chances.killAfterRenameOneIn = 0;
    }

    /** What happens meanwhile: called before each write with the name of the file, by who writes. */
    public void setMeanwhile(Consumer<String> meanwhile) {
        machine.meanwhile = meanwhile;
    }

    /** Who is told how many milliseconds a slow force, or a stall, takes. */
    public void setSlowness(LongConsumer sleeper) {
        machine.slowness = sleeper;
    }

    /** How much the files may have together. */
    public synchronized void setCapacity(long bytes) {
        machine.capacityBytes = bytes;
    }

    /** Ends the process in the call that comes so many calls later. */
    public synchronized void killIn(int calls) {
        machine.killIn = calls;
    }

    /** Whether the process has ended, so that each of its calls throws a {@link SimulatedCrash}. */
    public synchronized boolean isDead() {
        return machine.dead;
    }

    /** Ends the process, and not the machine: another one, after {@link #revive}, finds all that was written. */
    public synchronized void kill() {
        machine.dead = true;
        happens(DiskFault.KILL);
    }

    /** Another process begins on the same machine; nobody of the one that ended is left. */
    public synchronized void revive() {
        machine.killIn = -1;
        machine.dead = false;
    }

    /** A checksum of all that was written since the machine began, in its order. */
    public synchronized long writtenChecksum() {
        return machine.written.getValue();
    }

    /** How often each fault happened, since the first disk. */
    public Map<DiskFault, Integer> happened() {
        return happened;
    }

    /** Bytes of all files, also in directories inside this one. */
    public synchronized long usedBytes() {
        long inside = directories.values().stream()
                .mapToLong(SimulatedDisk::usedBytes)
                .sum();
        return inside
                + names.values().stream()
                        .distinct()
                        .mapToLong(content -> content.size)
                        .sum();
    }

    /** What the machine finds after it stopped; each call of this one throws a {@link SimulatedCrash} from now on. */
    public synchronized SimulatedDisk crash() {
        machine.dead = true;
        return crash(Optional.empty());
    }

    private synchronized SimulatedDisk crash(Optional<SimulatedDisk> in) {
        boolean inOrder = random.nextBoolean(); // as most file systems keep them; none has to
        int kept = nameChanges.isEmpty() ? 0 : random.nextInt(nameChanges.size() + 1);
        Map<String, Content> found = new TreeMap<>(forcedNames);
        for (int i = 0; i < nameChanges.size(); i++) {
            if (inOrder ? i < kept : random.nextBoolean()) {
                nameChanges.get(i).apply(found);
            } else {
                happens(DiskFault.LOST_NAME);
            }
        }
        SimulatedDisk after = new SimulatedDisk(in, this, directory);
        found.forEach((name, content) -> after.names.put(name, content.afterCrash(after)));
        after.forcedNames = new TreeMap<>(after.names);
        after.machine.slowness = machine.slowness;
        after.machine.meanwhile = machine.meanwhile;
        after.machine.capacityBytes = machine.capacityBytes;
        directories.forEach((name, inside) -> after.directories.put(name, inside.crash(Optional.of(after))));
        return after;
    }

    /** A copy of all files as they are, without faults; for damaging it. */
    public synchronized SimulatedDisk copy() {
        SimulatedDisk copy = new SimulatedDisk(0);
        names.forEach(
                (name, content) -> copy.names.put(name, new Content(copy, Arrays.copyOf(content.bytes, content.size))));
        copy.forcedNames = new TreeMap<>(copy.names);
        return copy;
    }

    /** The bytes of a file; a copy. */
    public synchronized byte[] bytes(String name) {
        Content content = names.get(name);
        return Arrays.copyOf(content.bytes, content.size);
    }

    /** Puts a file there, on disk, whatever was under its name. */
    public synchronized void put(String name, byte[] bytes) {
        Content content = new Content(this, bytes.clone());
        names.put(name, content);
        forcedNames.put(name, content);
    }

    /** Takes a file away, for good. */
    public synchronized void remove(String name) {
        names.remove(name);
        forcedNames.remove(name);
    }

    private void happens(DiskFault fault) {
        synchronized (happened) {
            happened.merge(fault, 1, Integer::sum);
        }
    }

    private boolean chance(int oneIn) {
        return oneIn > 0 && random.nextInt(oneIn) == 0;
    }

    private void call() {
        if (machine.dead) {
            throw new SimulatedCrash(); // also for those who end while they clean up
        }
        if (machine.killIn >= 0 && machine.killIn-- == 0) {
            machine.dead = true;
            happens(DiskFault.KILL);
            throw new SimulatedCrash();
        }
        if (chance(chances.stallOneIn)) {
            happens(DiskFault.STALL);
            machine.slowness.accept(random.nextInt(200));
        }
    }

    @Override
    public synchronized DiskFile create(String name) throws IOException {
        call();
        if (names.containsKey(name)) {
            throw new FileAlreadyExistsException(name);
        }
        if (chance(chances.fullOneIn)) {
            happens(DiskFault.FULL);
            throw new DiskFullException("no room for " + name);
        }
        Content content = new Content(this, new byte[0]);
        change(to -> to.put(name, content));
        return content.open(name);
    }

    private void change(NameChange change) {
        change.apply(names);
        nameChanges.add(change);
    }

    @Override
    public synchronized DiskFile open(String name) throws IOException {
        call();
        return find(name).open(name);
    }

    private Content find(String name) throws IOException {
        Content content = names.get(name);
        if (content == null) {
            throw new NoSuchFileException(name);
        }
        return content;
    }

    @Override
    public synchronized void rename(String from, String to) throws IOException {
        call();
        Content content = find(from);
        change(
                map -> { // of the file itself, whatever becomes of its old name
                    map.remove(from, content);
                    map.put(to, content);
                });
        if (chance(chances.killAfterRenameOneIn)) {
            machine.killIn = 0;
        }
    }

    @Override
    public synchronized void delete(String name) throws IOException {
        call();
        find(name);
        change(map -> map.remove(name));
    }

    @Override
    public synchronized List<String> list() throws IOException {
        call();
        return List.copyOf(names.keySet());
    }

    @Override
    public synchronized boolean has(String name) {
        call();
        return names.containsKey(name) || directories.containsKey(name);
    }

    @Override
    public synchronized void forceNames() throws IOException {
        call();
        if (chance(chances.forceErrorOneIn)) {
            happens(DiskFault.FORCE_ERROR);
            throw new IOException("I/O error while forcing names");
        }
        forcedNames = new TreeMap<>(names);
        nameChanges.clear();
    }

    @Override
    public synchronized Disk directory(String name) throws IOException {
        call();
        return directories.computeIfAbsent(
                name, made -> new SimulatedDisk(Optional.of(this), this, directory + made + "/"));
    }

    @Override
    public synchronized List<String> directories() throws IOException {
        call();
        return List.copyOf(directories.keySet());
    }

    @Override
    public synchronized void removeDirectory(String name) throws IOException {
        call();
        if (directories.remove(name) == null) {
            throw new NoSuchFileException(directory + name);
        }
    }

    @Override
    public String path(String name) {
        return directory + name;
    }

    private record Write(int position, byte[] bytes) {
        boolean touches(int sector) {
            return position < (sector + 1) * SECTOR && position + bytes.length > sector * SECTOR;
        }

        Write upTo(int length) {
            int left = Math.max(0, Math.min(bytes.length, length - position));
            return new Write(Math.min(position, length), Arrays.copyOf(bytes, left));
        }

        void apply(int sector, byte[] to) {
            int from = Math.max(position, sector * SECTOR);
            int end = Math.min(Math.min(position + bytes.length, (sector + 1) * SECTOR), to.length);
            if (end > from) {
                System.arraycopy(bytes, from - position, to, from, end - from);
            }
        }
    }

    /** A file, whatever its name. */
    private static final class Content {
        private final SimulatedDisk disk;
        private byte[] bytes; // as the process sees it
        private int size;
        private byte[] forced; // what is on disk for certain
        private final List<Write> writes = new ArrayList<>(); // since
        private int cut = Integer.MAX_VALUE; // the least length that it was cut to since

        Content(SimulatedDisk disk, byte[] bytes) {
            this.disk = disk;
            this.bytes = bytes;
            this.size = bytes.length;
            this.forced = bytes.clone();
        }

        Content afterCrash(SimulatedDisk after) {
            return new Content(after, persist(true));
        }

        /** Some of what was written; the rest is given up. */
        private byte[] persist(boolean counts) {
            boolean isCut = cut < forced.length && disk.random.nextBoolean();
            byte[] base = isCut ? Arrays.copyOf(forced, cut) : forced;
            int length = base.length;
            for (Write write : writes) {
                if (disk.random.nextBoolean()) {
                    length = Math.max(length, write.position + write.bytes.length);
                }
            }
            byte[] found = Arrays.copyOf(base, length);
            BitSet there = new BitSet();
            BitSet missing = new BitSet();
            boolean all = disk.random.nextInt(4) == 0; // as a rule some are lost
            int sectors = (length + SECTOR - 1) / SECTOR;
            List<List<Integer>> touching = new ArrayList<>();
            for (int sector = 0; sector < sectors; sector++) {
                touching.add(new ArrayList<>());
            }
            for (int i = 0; i < writes.size(); i++) {
                Write write = writes.get(i);
                int last = Math.min(sectors - 1, (write.position + write.bytes.length - 1) / SECTOR);
                for (int sector = write.position / SECTOR; sector <= last; sector++) {
                    touching.get(sector).add(i);
                }
            }
            for (int sector = 0; sector < sectors; sector++) {
                List<Integer> versions = touching.get(sector);
                int kept = all ? versions.size() : disk.random.nextInt(versions.size() + 1);
                for (int i = 0; i < versions.size(); i++) {
                    if (i < kept) {
                        writes.get(versions.get(i)).apply(sector, found);
                        there.set(versions.get(i));
                    } else {
                        missing.set(versions.get(i));
                    }
                }
            }
            if (counts) {
                count(there, missing);
            }
            return found;
        }

        private void count(BitSet there, BitSet missing) {
            for (int i = missing.nextSetBit(0); i >= 0; i = missing.nextSetBit(i + 1)) {
                disk.happens(there.get(i) ? DiskFault.TORN_WRITE : DiskFault.LOST_WRITE);
                if (!there.get(i) && there.length() > i) {
                    disk.happens(DiskFault.REORDERED_WRITE);
                }
            }
        }

        DiskFile open(String name) {
            return new File(this, name);
        }

        int read(ByteBuffer into, long position) throws IOException {
            disk.call();
            if (disk.chance(disk.chances.readErrorOneIn)) {
                disk.happens(DiskFault.READ_ERROR);
                throw new IOException("I/O error while reading");
            }
            int count = (int) Math.max(0, Math.min(into.remaining(), size - position));
            into.put(bytes, (int) Math.min(position, size), count);
            return count;
        }

        void write(ByteBuffer from, long position) throws IOException {
            int wanted = from.remaining();
            boolean killed = false;
            try {
                disk.call();
            } catch (SimulatedCrash e) {
                killed = true;
            }
            long growth = Math.max(0, position + wanted - size);
            boolean full = growth > 0
                    && (disk.machine.root.usedBytes() + growth > disk.machine.capacityBytes
                            || disk.chance(disk.chances.fullOneIn));
            boolean fails = disk.chance(disk.chances.writeErrorOneIn);
            int count = full || fails || killed ? disk.random.nextInt(wanted + 1) : wanted;
            if (full) {
                count = (int) Math.min(count, Math.max(0, size - position));
            }
            put(from, (int) position, count);
            if (killed) {
                throw new SimulatedCrash();
            }
            if (full) {
                disk.happens(DiskFault.FULL);
                throw new DiskFullException("no room");
            }
            if (fails) {
                disk.happens(DiskFault.WRITE_ERROR);
                throw new IOException("I/O error while writing");
            }
        }

        private void put(ByteBuffer from, int position, int count) {
            if (count == 0) {
                return;
            }
            byte[] written = new byte[count];
            from.get(written);
            if (position + count > bytes.length) {
                bytes = Arrays.copyOf(bytes, Math.max(position + count, 2 * bytes.length));
            }
            System.arraycopy(written, 0, bytes, position, count);
            size = Math.max(size, position + count);
            writes.add(new Write(position, written));
            disk.machine.written.update(written);
        }

        void force() throws IOException {
            disk.call();
            if (disk.chance(disk.chances.slowForceOneIn)) {
                disk.happens(DiskFault.SLOW_FORCE);
                disk.machine.slowness.accept(disk.random.nextInt(1000));
            }
            if (disk.chance(disk.chances.forceErrorOneIn)) {
                disk.happens(DiskFault.FORCE_ERROR);
                forced = persist(false); // the system takes the rest for written
                writes.clear();
                cut = Integer.MAX_VALUE;
                throw new IOException("I/O error while forcing");
            }
            forced = cut < forced.length ? Arrays.copyOf(forced, cut) : forced;
            cut = Integer.MAX_VALUE;
            for (Write write : writes) { // and not what an earlier force gave up
                int end = write.position + write.bytes.length;
                forced = end > forced.length ? Arrays.copyOf(forced, end) : forced;
                System.arraycopy(write.bytes, 0, forced, write.position, write.bytes.length);
            }
            writes.clear();
        }

        void truncate(long length) throws IOException {
            disk.call();
            if (length < size) {
                Arrays.fill(bytes, (int) length, size, (byte) 0);
                size = (int) length;
                cut = Math.min(cut, size);
                writes.replaceAll(write -> write.upTo(size));
                writes.removeIf(write -> write.bytes.length == 0);
            }
        }
    }

    private record File(Content content, String name) implements DiskFile {
        @Override
        public int read(ByteBuffer into, long position) throws IOException {
            synchronized (content.disk) {
                return content.read(into, position);
            }
        }

        @Override
        public void write(ByteBuffer from, long position) throws IOException {
            content.disk.machine.meanwhile.accept(content.disk.path(name));
            synchronized (content.disk) {
                content.write(from, position);
            }
        }

        @Override
        public void force() throws IOException {
            synchronized (content.disk) {
                content.force();
            }
        }

        @Override
        public void truncate(long bytes) throws IOException {
            synchronized (content.disk) {
                content.truncate(bytes);
            }
        }

        @Override
        public long size() throws IOException {
            synchronized (content.disk) {
                content.disk.call();
                return content.size;
            }
        }

        @Override
        public void close() {}
    }
}
