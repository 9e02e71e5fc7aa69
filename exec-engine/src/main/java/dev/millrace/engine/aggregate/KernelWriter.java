package dev.millrace.engine.aggregate;

import static dev.millrace.plan.node.AggregateState.NONE;

import dev.millrace.engine.aggregate.AggregateLayout.DistinctSet;
import dev.millrace.engine.aggregate.AggregateLayout.StateSlot;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.code.SourceBuilder;
import dev.millrace.expressions.kernel.ClassCompiler;
import dev.millrace.operator.KeyGroups;
import dev.millrace.plan.node.AggregateState;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Writes the source of a {@link GroupKernel} or {@link ValueKernel}: one loop over the rows that loads the keys, hashes,
 * probes and updates the states, all over raw addresses. The variants with NULLs and with weights are classes of their own.
 *
 * <pre>
 *   for (int i = 0; i &lt; count; i++) {
 *       int row = rows[i];
 *       long k0 = Memory.getLong(d0 + 8L * row);
 *       long hash = Hashing.finish(Hashing.step(Hashing.SEED, k0));
 *       ... probe or insert: entry
 *       Memory.putLong(entry + 24L, Memory.getLong(entry + 24L) + 1L);
 *   }
 * </pre>
 *
 * <p>Long because keys of every kind are loaded, hashed, compared and kept by what one loop writes.
 */
final class KernelWriter {
    private static final String CLASS = "dev.millrace.engine.aggregate.GeneratedKernel";

    /** Where the entry of a row comes from. */
    enum Entries {
        /** Found by the keys. */
        BY_KEY,
        /** Found by the keys, and remembered in {@code groups}. */
        BY_KEY_REMEMBERED,
        /** The same, and 0 where there is none: nothing is added. */
        KNOWN_BY_KEY,
        /** Taken from {@code groups}. */
        GIVEN
    }

    /** What differs between kernels over the same groups and batches. */
    record Variant(boolean nulls, boolean weights) {}

    private final Schema input;
    private final Variant variant;
    private final SourceBuilder before = new SourceBuilder();
    private final SourceBuilder body = new SourceBuilder(); // of the loop over rows
    private final SourceBuilder after = new SourceBuilder();
    private final SourceBuilder ahead = new SourceBuilder(); // of a loop before it, for large tables: keys and hash
    private final TreeSet<Integer> columns = new TreeSet<>();
    private final TreeSet<Integer> tested = new TreeSet<>(); // columns whose NULLs are asked for
    private final TreeSet<Integer> filters = new TreeSet<>();

    private KernelWriter(Schema input, Variant variant) {
        this.input = input;
        this.variant = variant;
    }

    /** Writes a kernel over groups. {@code mergedFrom} is the first state column of a FINAL phase's input, or NONE. */
    static KernelWriter groups(
            Schema input,
            KeyLayout keys,
            List<StateSlot> updates,
            int mergedFrom,
            Entries entries,
            boolean logged,
            Variant variant) {
        KernelWriter writer = new KernelWriter(input, variant);
        writer.writeGroups(keys, updates, mergedFrom, entries, logged);
        return writer;
    }

    /**
     * Writes a kernel over the distinct values of groups, which feed some of {@code states}. {@code merged} is the column of
     * a FINAL phase's input with the values, before that with the filters they were seen under, or NONE.
     */
    static KernelWriter distinct(Schema input, DistinctSet set, List<StateSlot> states, int merged, Variant variant) {
        KernelWriter writer = new KernelWriter(input, variant);
        if (merged == NONE) {
            writer.writeDistinct(set, states);
        } else {
            writer.writeMergedValues(set, states, merged);
        }
        return writer;
    }

    private void writeGroups(KeyLayout keys, List<StateSlot> updates, int mergedFrom, Entries entries, boolean logged) {
        SourceBuilder changes = new SourceBuilder();
        if (mergedFrom == NONE) {
            writeUpdates(updates, "entry", variant.weights() ? "w" : "1L", changes);
        } else {
            writeMerges(updates, mergedFrom, changes);
        }
        if (entries == Entries.GIVEN) {
            body.line("long entry = groups[i];");
        } else if (keys.keys().isEmpty()) {
            body.line("long entry = only;");
        } else {
            writeKeys(keys);
            if (entries != Entries.BY_KEY && updates.isEmpty()) { // else what is done per row hides the wait
                ahead.append(body).line("groups[i] = hash << " + KeyGroups.BITS + ";");
            }
            writeProbe(keys, entries != Entries.KNOWN_BY_KEY);
        }
        if (entries == Entries.BY_KEY_REMEMBERED || entries == Entries.KNOWN_BY_KEY) {
            body.line("groups[i] = entry;");
        }
        if (logged) {
            body.open("if (Memory.getLong(entry + " + GroupTable.LINK + "L) == 0L)")
                    .line("log.touch(entry);")
                    .close();
        }
        body.append(changes);
    }

    // ---- keys

    private void writeKeys(KeyLayout keys) {
        if (keys.hasNulls()) {
            body.line("long nulls = 0L;");
        }
        StringBuilder hash = new StringBuilder("Hashing.SEED");
        for (KeyLayout.Key key : keys.keys()) {
            String name = "k" + key.index();
            writeKey(name, key.column(), key.type(), key.index());
            KeyCode.step(hash, name, key.kind());
        }
        body.line("long hash = Hashing.finish(" + hash + ");");
    }

    /** Loads a key into {@code name} (and {@code nameb}, and a text's address and length into {@code namea, namel}). */
    private void writeKey(String name, int column, DataType type, int nullBit) {
        SlotKind kind = SlotKind.of(type);
        columns.add(column);
        boolean mayBeNull = variant.nulls() && input.field(column).nullable() && nullBit >= 0;
        body.line("long " + name + ";");
        if (kind != SlotKind.WORD) {
            body.line("long " + name + "b;");
        }
        if (kind == SlotKind.BYTES) {
            body.line("long " + name + "a = 0L;").line("int " + name + "l = 0;");
        }
        if (type.kind() == DataType.Kind.BIGNUM) {
            body.line("long " + name + "s = -1L;");
        }
        if (mayBeNull) {
            tested.add(column);
            body.open("if (" + isNull(column) + ")").line(name + " = Hashing.NULL_BITS;");
            if (kind != SlotKind.WORD) {
                body.line(name + "b = 0L;");
            }
            body.line("nulls |= " + (1L << nullBit) + "L;").reopen("else");
        }
        switch (kind) {
            case WORD -> body.line(name + " = " + KeyCode.word(column, type) + ";");
            case WIDE ->
                body.line(name + " = Memory.getLong(d" + column + " + 16L * row);")
                        .line(name + "b = Memory.getLong(d" + column + " + 16L * row + 8L);");
            case BYTES -> {
                body.line(name + "a = Memory.getInt(o" + column + " + 4L * row);")
                        .line(name + "l = (int) (Memory.getInt(o" + column + " + 4L * row + 4L) - " + name + "a);")
                        .line(name + "a += d" + column + ";");
                if (type.kind() == DataType.Kind.BIGNUM) {
                    body.line(name + "s = BignumBytes.shownScale(" + name + "a, " + name + "l);")
                            .line(name + "l = BignumBytes.keyLength(" + name + "l);");
                }
                body.line(name + " = ByteSlots.low(" + name + "a, " + name + "l);")
                        .line(name + "b = ByteSlots.high(" + name + "a, " + name + "l);");
            }
        }
        if (mayBeNull) {
            body.close();
        }
    }

    private String isNull(int column) {
        return "v" + column + " != 0L && !Memory.getBit(v" + column + ", row)";
    }

    private void writeProbe(KeyLayout keys, boolean inserts) {
        StringBuilder equal = new StringBuilder();
        if (keys.hasNulls()) {
            equal.append("Memory.getLong(entry + " + GroupTable.BODY + "L) == nulls");
        }
        SourceBuilder store = new SourceBuilder();
        if (keys.hasNulls()) {
            store.line("Memory.putLong(entry + " + GroupTable.BODY + "L, nulls);");
        }
        for (KeyLayout.Key key : keys.keys()) {
            equal.append(equal.isEmpty() ? "" : " && ")
                    .append(KeyCode.equalTo("k" + key.index(), key.kind(), key.offset()));
            store.append(KeyCode.storing("k" + key.index(), key.kind(), key.offset()));
            if (key.hasScale()) {
                store.line("Memory.putLong(entry + " + key.scaleOffset() + "L, k" + key.index() + "s);");
            }
            if (key.kind() == SlotKind.BYTES && key.nullable() && variant.nulls()) {
                // an empty text's slot with the first word of a NULL
                store.open("if ((nulls & " + (1L << key.index()) + "L) != 0L)")
                        .line("Memory.putLong(entry + " + key.offset() + "L, Hashing.NULL_BITS);")
                        .close();
            }
        }
        if (inserts) {
            KeyCode.writeProbe(body, equal.toString(), store);
        } else {
            KeyCode.writeLookup(body, equal.toString());
        }
    }

    // ---- distinct values

    private void writeDistinct(DistinctSet set, List<StateSlot> states) {
        int column = set.argument();
        columns.add(column);
        if (variant.nulls() && input.field(column).nullable()) {
            tested.add(column);
            body.open("if (" + isNull(column) + ")").line("continue;").close();
        }
        StringBuilder bits = new StringBuilder();
        for (int i = 0; i < set.filters().size(); i++) {
            int filter = set.filters().get(i);
            bits.append(i == 0 ? "" : " | ")
                    .append(filter == NONE ? 1 << i : "(" + isTrue(filter) + " ? " + (1 << i) + " : 0)");
        }
        body.line("int bits = " + bits + ";");
        if (!set.filters().contains(NONE)) {
            body.open("if (bits == 0)").line("continue;").close();
        }
        if (set.counts()) {
            writeCounted(set, states);
        } else {
            writeMarked(set, set.argument(), states);
        }
    }

    private void writeMergedValues(DistinctSet set, List<StateSlot> states, int column) {
        columns.add(column);
        columns.add(column + 1);
        body.line("int bits = Memory.getShort(d" + (column + 1) + " + 2L * row);")
                .open("if (bits == 0)")
                .line("continue;")
                .close();
        writeMarked(set, column, states);
    }

    /** Finds the ids of values, then the sets mark them, then what is new is fed to states: a loop each. */
    private void writeMarked(DistinctSet set, int column, List<StateSlot> states) {
        writeKey("k0", column, set.type(), -1);
        StringBuilder hash = new StringBuilder("Hashing.SEED");
        SlotKind kind = SlotKind.of(set.type());
        KeyCode.step(hash, "k0", kind);
        body.line("long hash = Hashing.finish(" + hash + ");");
        SourceBuilder store = KeyCode.storing("k0", kind, DistinctSet.VALUE)
                .line("Memory.putLong(entry + " + GroupTable.LINK + "L, table.size() - 1L);")
                .line("found.named(entry);");
        storeScale(set, store);
        KeyCode.writeProbe(body, KeyCode.equalTo("k0", kind, DistinctSet.VALUE), store);
        body.line("foundRows[n] = row;")
                .line("ids[n] = (int) Memory.getLong(entry + " + GroupTable.LINK + "L);")
                .line("marks[n] = bits;")
                .line("owners[n++] = groups[i];");
        before.line("int[] foundRows = found.rows();")
                .line("int[] ids = found.ids();")
                .line("int[] marks = found.marks();")
                .line("long[] owners = found.groups();")
                .line("int n = 0;");
        after.line("found.mark(n, table.size());");
        if (states.isEmpty()) {
            return;
        }
        after.open("for (int i = 0; i < n; i++)")
                .line("int bits = marks[i];")
                .open("if (bits == 0)")
                .line("continue;")
                .close()
                .line("int row = foundRows[i];")
                .line("long owner = owners[i];");
        for (int i = 0; i < set.filters().size(); i++) {
            boolean counts = true;
            List<String> lines = new ArrayList<>();
            for (StateSlot slot : fed(set, i, states)) {
                String at = "owner + " + slot.offset() + "L";
                counts &= slot.state().kind() == AggregateState.Kind.COUNT;
                String weight = counts ? "(long) (bits >>> " + i + " & 1)" : "1L";
                lines.add(StateCode.update(slot, at, column, weight, "found.memory()"));
            }
            if (!counts) {
                after.open("if ((bits & " + (1 << i) + ") != 0)");
            }
            lines.forEach(after::line);
            if (!counts) {
                after.close();
            }
        }
        after.close();
    }

    private static void storeScale(DistinctSet set, SourceBuilder store) {
        if (set.hasScale()) {
            store.line("Memory.putLong(entry + " + set.scaleOffset() + "L, k0s);");
        }
    }

    private static List<StateSlot> fed(DistinctSet set, int filter, List<StateSlot> states) {
        return states.stream()
                .filter(slot -> slot.state().distinct() && slot.state().argument() == set.argument())
                .filter(slot -> slot.state().filter() == set.filters().get(filter))
                .toList();
    }

    private void writeCounted(DistinctSet set, List<StateSlot> states) {
        String weight = variant.weights() ? "w" : "1L";
        SlotKind kind = SlotKind.of(set.type());
        body.line("long owner = groups[i];");
        writeKey("k0", set.argument(), set.type(), -1);
        StringBuilder hash = new StringBuilder("Memory.getLong(owner)");
        KeyCode.step(hash, "k0", kind);
        body.line("long hash = Hashing.finish(" + hash + ");");
        String ownerAt = "entry + " + set.ownerOffset() + "L";
        SourceBuilder store = new SourceBuilder().line("Memory.putLong(" + ownerAt + ", owner);");
        store.append(KeyCode.storing("k0", kind, DistinctSet.VALUE));
        storeScale(set, store);
        KeyCode.writeProbe(
                body,
                "Memory.getLong(" + ownerAt + ") == owner && " + KeyCode.equalTo("k0", kind, DistinctSet.VALUE),
                store);
        before.line("boolean watched = found.isWatched();");
        body.open("if (watched)").line("found.beforeChange(entry);").close();
        StringBuilder left = new StringBuilder();
        for (int i = 0; i < set.filters().size(); i++) {
            String at = "entry + " + set.countOffset(i) + "L";
            body.open("if ((bits & " + (1 << i) + ") != 0)")
                    .line("long before = Memory.getLong(" + at + ");")
                    .line("long after = before + " + weight + ";")
                    .line("Memory.putLong(" + at + ", after);")
                    .open("if (before > 0L != after > 0L)")
                    .line("long sign = after > 0L ? 1L : -1L;");
            for (StateSlot slot : fed(set, i, states)) {
                String state = "owner + " + slot.offset() + "L";
                body.line(
                        slot.isBytes() // what goes was added with the scale that is kept
                                ? StateCode.updateKept(slot, state, "entry + " + DistinctSet.VALUE + "L", "sign")
                                : StateCode.update(slot, state, set.argument(), "sign"));
            }
            body.close().close();
            left.append(i == 0 ? "" : " | ").append("Memory.getLong(" + at + ")");
        }
        body.open("if ((" + left + ") == 0L)")
                .open("if (watched)")
                .line("found.gone(entry);")
                .close();
        if (kind == SlotKind.BYTES) {
            body.line("ByteSlots.free(table.memory(), entry + " + DistinctSet.VALUE + "L);");
        }
        body.line("table.remove(entry);").close();
    }

    // ---- states

    private void writeUpdates(List<StateSlot> updates, String base, String weight, SourceBuilder to) {
        Map<String, List<StateSlot>> byCondition = new LinkedHashMap<>();
        for (StateSlot slot : updates) {
            byCondition
                    .computeIfAbsent(condition(slot), key -> new ArrayList<>())
                    .add(slot);
        }
        byCondition.forEach((condition, slots) -> {
            boolean counts = slots.stream().allMatch(slot -> slot.state().kind() == AggregateState.Kind.COUNT);
            if (!condition.isEmpty() && counts) { // no branch: conditions of a count are rarely predictable
                for (StateSlot slot : slots) {
                    String added = "(" + condition + " ? " + weight + " : 0L)";
                    to.line(StateCode.update(slot, base + " + " + slot.offset() + "L", NONE, added));
                }
                return;
            }
            if (!condition.isEmpty()) {
                to.open("if (" + condition + ")");
            }
            for (StateSlot slot : slots) {
                if (StateCode.readsArgument(slot)) {
                    columns.add(slot.state().argument());
                }
                to.line(StateCode.update(
                        slot, base + " + " + slot.offset() + "L", slot.state().argument(), weight));
            }
            if (!condition.isEmpty()) {
                to.close();
            }
        });
    }

    private String condition(StateSlot slot) {
        List<String> conditions = new ArrayList<>();
        if (slot.state().filter() != NONE) {
            conditions.add(isTrue(slot.state().filter()));
        }
        int argument = slot.state().argument();
        if (argument != NONE && variant.nulls() && input.field(argument).nullable()) {
            columns.add(argument);
            tested.add(argument);
            conditions.add("!(" + isNull(argument) + ")");
        }
        return String.join(" && ", conditions);
    }

    private String isTrue(int filter) {
        columns.add(filter);
        filters.add(filter);
        if (variant.nulls() && input.field(filter).nullable()) {
            tested.add(filter);
        }
        return "f" + filter;
    }

    private void writeMerges(List<StateSlot> updates, int mergedFrom, SourceBuilder to) {
        int column = mergedFrom;
        for (StateSlot slot : updates) {
            int width = slot.isExtreme() ? 1 : StateCode.columns(slot.state().kind());
            for (int i = 0; i < width; i++) {
                columns.add(column + i);
            }
            String at = "entry + " + slot.offset() + "L";
            if (slot.isExtreme()) {
                tested.add(column);
                to.open("if (!(" + isNull(column) + "))")
                        .line(StateCode.update(slot, at, column, "1L"))
                        .close();
            } else {
                to.line(StateCode.merge(slot, at, column));
            }
            column += width;
        }
    }

    // ---- the class

    /** A kernel of what was written, {@link GroupKernel} or {@link ValueKernel}. */
    <K> K compile(Class<K> kernel) {
        try {
            return ClassCompiler.compile(CLASS, source(kernel), kernel)
                    .getConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException e) {
            throw MillraceException.internal("a generated kernel cannot be instantiated", e);
        }
    }

    /** What was written, as a compilation unit. */
    String source(Class<?> kernel) {
        SourceBuilder source = new SourceBuilder();
        source.line("package dev.millrace.engine.aggregate;")
                .line("import dev.millrace.batch.*;")
                .line("import dev.millrace.memory.*;")
                .line("import dev.millrace.number.*;")
                .line("import dev.millrace.engine.state.*;")
                .line("import dev.millrace.engine.aggregate.*;")
                .line("import dev.millrace.engine.aggregate.number.*;")
                .open("public final class GeneratedKernel extends " + kernel.getSimpleName())
                .open("public void add(GroupTable table, Batch batch, NestedImages images, int[] rows, int count, "
                        + "long[] groups, " + (kernel == ValueKernel.class ? "FoundValues found)" : "ChangeLog log)"))
                .line("long index = table.indexAddress();")
                .line("int shift = table.shift();")
                .line("long mask = table.mask();");
        if (body.toString().contains("long entry = only;")) {
            source.open("if (count == 0)") // not even the one group is there before a row is
                    .line("return;")
                    .close()
                    .line(
                            "long only = table.size() == 0 ? table.insert(0L, 0L) : table.word(0L) & GroupTable.ADDRESS;");
        }
        for (int column : columns) {
            if (SlotKind.of(input.type(column)) == SlotKind.BYTES) {
                source.line("long o" + column + " = images.offsetsAddress(batch, " + column + ");")
                        .line("long d" + column + " = images.dataAddress(batch, " + column + ");");
            } else {
                source.line("long d" + column + " = batch.dataAddress(" + column + ");");
            }
        }
        for (int column : tested) {
            source.line("long v" + column + " = batch.validityAddress(" + column + ");");
        }
        if (variant.weights()) {
            source.line("long weights = batch.weightsAddress();");
        }
        writeAhead(source);
        source.append(before).open("for (int i = 0; i < count; i++)").line("int row = rows[i];");
        if (variant.weights()) {
            source.line("long w = Memory.getLong(weights + 8L * row);");
        }
        for (int filter : filters) {
            String valid = tested.contains(filter) ? "!(" + isNull(filter) + ") && " : "";
            source.line("boolean f" + filter + " = " + valid + "Memory.getBit(d" + filter + ", row);");
        }
        return source.append(body).close().append(after).close().close().toString();
    }

    /** Loads a large index's words for all rows, in a loop of nothing but loads: these wait for memory together. */
    private void writeAhead(SourceBuilder source) {
        if (ahead.toString().isEmpty()) {
            return;
        }
        source.open("if (mask >= " + GroupTable.FAR + "L)")
                .open("for (int i = 0; i < count; i++)")
                .line("int row = rows[i];")
                .append(ahead)
                .close()
                .line("long words = 0L;")
                .open("for (int i = 0; i < count; i++)")
                .line("words ^= Memory.getLong(index + (groups[i] >>> shift << 3));")
                .close()
                .line("table.touched(words);")
                .close();
    }
}
