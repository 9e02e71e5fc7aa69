package dev.millrace.server.operation;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/** Damages files of a directory at random, which a seed decides. For one thread. */
final class RandomDamage {
    /** Directories of which others say that they are there. */
    private static final Set<String> TOLD_OF = Set.of("rows/", "checkpoints/", "jars/", "changes/", "streams/");

    /** What is done to a file. */
    enum Kind {
        FLIP,
        TRUNCATE,
        REMOVE,
        EXCHANGE,
        APPEND,
        OLDER,
        FOREIGN
    }

    /** A damaged directory, and in words how. */
    record Damage(Kind kind, String file, String how, Map<String, byte[]> files) {
        boolean touches(String what) {
            return (file + how).contains(what);
        }

        @Override
        public String toString() {
            return kind + " " + file + " " + how;
        }
    }

    private final Random random;
    private final Map<String, byte[]> older;
    private final Map<String, byte[]> foreign;

    /**
     * @param older files of an earlier moment of the same directory
     * @param foreign files of another database's
     */
    RandomDamage(Random random, Map<String, byte[]> older, Map<String, byte[]> foreign) {
        this.random = random;
        this.older = older;
        this.foreign = foreign;
    }

    /**
     * Damages a directory.
     *
     * @param whole its files
     * @param isKilled whether the database that wrote them was not closed
     */
    Damage next(Map<String, byte[]> whole, boolean isKilled) {
        List<String> names = new ArrayList<>(whole.keySet());
        while (true) {
            Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
            String name = names.get(random.nextInt(names.size()));
            byte[] bytes = whole.get(name);
            Map<String, byte[]> files = new TreeMap<>(whole);
            String how = "";
            switch (kind) {
                case FLIP -> {
                    if (bytes.length == 0) {
                        continue;
                    }
                    int at = place(bytes);
                    int bit = random.nextInt(8);
                    byte[] changed = bytes.clone();
                    changed[at] ^= (byte) (1 << bit);
                    files.put(name, changed);
                    how = "at byte " + at + ", bit " + bit;
                }
                case TRUNCATE -> {
                    if (bytes.length == 0) {
                        continue;
                    }
                    int length = random.nextInt(4) == 0 ? bytes.length - 1 : place(bytes);
                    files.put(name, Arrays.copyOf(bytes, length));
                    how = "to " + length + " bytes";
                }
                case REMOVE -> {
                    String directory = name.substring(0, name.indexOf('/') + 1);
                    boolean all = TOLD_OF.contains(directory) && random.nextInt(3) == 0;
                    files.keySet().removeIf(file -> all ? file.startsWith(directory) : file.equals(name));
                    how = all ? "and all beside it" : "";
                }
                case EXCHANGE -> {
                    String other = names.get(random.nextInt(names.size()));
                    if (Arrays.equals(whole.get(other), bytes)) {
                        continue;
                    }
                    files.put(name, whole.get(other));
                    files.put(other, bytes);
                    how = "and " + other;
                }
                case APPEND -> {
                    byte[] more = new byte[1 + random.nextInt(40)];
                    random.nextBytes(more);
                    byte[] added = random.nextBoolean() ? more : "0a\n".getBytes(StandardCharsets.US_ASCII);
                    byte[] longer = Arrays.copyOf(bytes, bytes.length + added.length);
                    System.arraycopy(added, 0, longer, bytes.length, added.length);
                    files.put(name, longer);
                    how = added.length + " bytes";
                }
                case OLDER, FOREIGN -> {
                    Map<String, byte[]> from = kind == Kind.OLDER ? older : foreign;
                    String directory = name.substring(0, name.indexOf('/') + 1);
                    boolean all = TOLD_OF.contains(directory) && random.nextInt(3) == 0;
                    boolean mayBeTorn = isKilled && kind == Kind.OLDER && name.startsWith("rows/seg") && !all;
                    if (mayBeTorn || !from.containsKey(name) || Arrays.equals(from.get(name), bytes)) {
                        continue;
                    }
                    if (all) {
                        files.keySet().removeIf(file -> file.startsWith(directory));
                        from.forEach((file, old) -> {
                            if (file.startsWith(directory)) {
                                files.put(file, old);
                            }
                        });
                        how = "and all beside it";
                    } else {
                        files.put(name, from.get(name));
                    }
                }
            }
            return new Damage(kind, name, how, files);
        }
    }

    /** Anywhere, but mostly where something is. */
    private int place(byte[] bytes) {
        int at = random.nextInt(bytes.length);
        for (int tried = 0; tried < 50 && bytes[at] == 0; tried++) {
            at = random.nextInt(random.nextBoolean() ? bytes.length : Math.min(bytes.length, 1 << 16));
        }
        return at;
    }
}
