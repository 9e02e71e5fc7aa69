package dev.millrace.engine.checkpoint;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A checkpoint that is kept on the Java heap, to be read by who has the object: for tests, for measuring, and for an engine that
 * is opened anew with other settings. Written by one thread, then read by any.
 */
public final class MemoryCheckpoint implements CheckpointWriter, CheckpointReader {
    private final Optional<MemoryCheckpoint> before;
    private final Map<String, List<byte[]>> sections = new LinkedHashMap<>();
    private final Map<String, SectionContents> contents = new HashMap<>(); // as far as they were known
    private final Set<String> kept = new HashSet<>();
    private List<byte[]> current = new ArrayList<>();
    private long bytes;

    /** One that has everything. */
    public MemoryCheckpoint() {
        this.before = Optional.empty();
    }

    /** One that has from another, which was made of the same engine before, what has not changed since. */
    public MemoryCheckpoint(MemoryCheckpoint before) {
        this.before = Optional.of(before);
    }

    @Override
    public boolean has(SectionContents known) {
        return before.filter(other -> known.equals(other.contents.get(known.section())))
                .filter(other ->
                        !other.sections.getOrDefault(known.section(), List.of()).isEmpty())
                .isPresent();
    }

    @Override
    public boolean keep(SectionContents known) {
        contents.put(known.section(), known);
        List<byte[]> bytes = before.filter(other -> known.equals(other.contents.get(known.section())))
                .map(other -> other.sections.getOrDefault(known.section(), List.of()))
                .orElse(List.of());
        if (bytes.isEmpty()) {
            return false;
        }
        sections.put(known.section(), bytes);
        kept.add(known.section());
        return true;
    }

    /** The names of those sections that were not written, but kept of the checkpoint before. */
    public Set<String> kept() {
        return Set.copyOf(kept);
    }

    @Override
    public void begin(String section) {
        current = new ArrayList<>();
        if (sections.put(section, current) != null) {
            throw new IllegalStateException("section \"" + section + "\" was begun before");
        }
    }

    @Override
    public void write(ByteBuffer more) {
        byte[] copy = new byte[more.remaining()];
        more.get(copy);
        current.add(copy);
        bytes += copy.length;
    }

    @Override
    public Optional<InputStream> open(String section) {
        return Optional.ofNullable(sections.get(section))
                .map(blocks -> new SequenceInputStream(Collections.enumeration(blocks.stream()
                        .<InputStream>map(ByteArrayInputStream::new)
                        .toList())));
    }

    /** The names of all sections, in the order in which they were written. */
    public List<String> sections() {
        return List.copyOf(sections.keySet());
    }

    /** The bytes of a section, which are the caller's to change; of what is to be read again, {@link #replace} them. */
    public byte[] bytes(String section) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        sections.getOrDefault(section, List.of()).forEach(all::writeBytes);
        return all.toByteArray();
    }

    /** Puts other bytes in the place of a section's. */
    public void replace(String section, byte[] other) {
        sections.put(section, List.of(other));
    }

    /** Of all sections together. */
    public long size() {
        return bytes;
    }
}
