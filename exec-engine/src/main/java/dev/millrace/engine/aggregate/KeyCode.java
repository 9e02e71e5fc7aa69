package dev.millrace.engine.aggregate;

import dev.millrace.engine.state.SlotKind;
import dev.millrace.expressions.code.SourceBuilder;
import dev.millrace.operator.KeyGroups;
import dev.millrace.type.DataType;

/**
 * The code of generated kernels that hashes, finds and keeps keys. A key is in {@code name}, one of two words also in
 * {@code nameb}, and a text's address and length are in {@code namea} and {@code namel}.
 */
final class KeyCode {
    private KeyCode() {}

    /** Makes the expression {@code hash} go on with the key in {@code name}. */
    static void step(StringBuilder hash, String name, SlotKind kind) {
        hash.insert(0, "Hashing.step(").append(", ").append(name).append(')');
        if (kind != SlotKind.WORD) {
            hash.insert(0, "Hashing.step(").append(", ").append(name).append("b)");
        }
    }

    /** The word of a value of {@code column} in {@code row}. */
    static String word(int column, DataType type) {
        String data = "d" + column;
        return switch (type.kind()) {
            case BOOLEAN -> "Memory.getBit(" + data + ", row) ? 1L : 0L";
            case SMALLINT -> "(long) Memory.getShort(" + data + " + 2L * row)";
            case INTEGER, DATE -> "(long) Memory.getInt(" + data + " + 4L * row)";
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> "Memory.getLong(" + data + " + 8L * row)";
            case REAL -> "Hashing.canonical((double) Memory.getFloat(" + data + " + 4L * row))";
            case DOUBLE -> "Hashing.canonical(Memory.getDouble(" + data + " + 8L * row))";
            default -> throw new IllegalArgumentException(type + " is no word");
        };
    }

    /** Whether the slot of {@code entry} at {@code offset} holds the key in {@code name}. */
    static String equalTo(String name, SlotKind kind, int offset) {
        return switch (kind) {
            case WORD -> "Memory.getLong(entry + " + offset + "L) == " + name;
            case WIDE ->
                "Memory.getLong(entry + " + offset + "L) == " + name + " && Memory.getLong(entry + " + (offset + 8)
                        + "L) == " + name + "b";
            case BYTES ->
                "ByteSlots.equal(entry + " + offset + "L, " + name + ", " + name + "b, " + name + "a, " + name + "l)";
        };
    }

    /** Puts the key in {@code name} into the slot of a new {@code entry} at {@code offset}. */
    static SourceBuilder storing(String name, SlotKind kind, int offset) {
        SourceBuilder store = new SourceBuilder();
        switch (kind) {
            case WORD -> store.line("Memory.putLong(entry + " + offset + "L, " + name + ");");
            case WIDE ->
                store.line("Memory.putLong(entry + " + offset + "L, " + name + ");")
                        .line("Memory.putLong(entry + " + (offset + 8) + "L, " + name + "b);");
            case BYTES ->
                store.line("ByteSlots.store(table.memory(), entry + " + offset + "L, " + name + "a, " + name + "l);");
        }
        return store;
    }

    /** Sets {@code entry} to the one with {@code hash} of which {@code equal} holds, wherever it is, or inserts one and runs {@code store}. */
    static void writeProbe(SourceBuilder to, String equal, SourceBuilder store) {
        SourceBuilder insert = new SourceBuilder()
                .line("entry = table.insert(hash, slot);")
                .append(store)
                .line("index = table.indexAddress();")
                .line("shift = table.shift();")
                .line("mask = table.mask();");
        writeSearch(to, equal, insert);
    }

    /** The same where an entry that is not there is 0. */
    static void writeLookup(SourceBuilder to, String equal) {
        writeSearch(to, equal, new SourceBuilder().line("entry = 0L;"));
    }

    private static void writeSearch(SourceBuilder to, String equal, SourceBuilder missing) {
        to.line("long entry = 0L;")
                .line("long slot = hash << " + KeyGroups.BITS + " >>> shift;")
                .open("for (;;)")
                .line("long word = Memory.getLong(index + (slot << 3));")
                .open("if (word == 0L)")
                .open("if (table.fetch(hash))") // it was elsewhere: from its first slot on
                .line("index = table.indexAddress();")
                .line("shift = table.shift();")
                .line("mask = table.mask();")
                .line("slot = hash << " + KeyGroups.BITS + " >>> shift;")
                .line("continue;")
                .close()
                .append(missing)
                .line("break;")
                .close()
                .open("if ((word ^ hash << 48) >>> 48 == 0L)")
                .line("entry = word & GroupTable.ADDRESS;")
                .open("if (" + equal + ")")
                .line("break;")
                .close()
                .close()
                .line("slot = slot + 1L & mask;")
                .close();
    }
}
