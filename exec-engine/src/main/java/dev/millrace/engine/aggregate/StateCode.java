package dev.millrace.engine.aggregate;

import dev.millrace.engine.aggregate.AggregateLayout.StateSlot;
import dev.millrace.plan.node.AggregateState;
import dev.millrace.plan.node.AggregateState.Kind;
import dev.millrace.type.DataType;

/** The statements of generated code that change one state. They refer to {@code row} and to {@code d}c, {@code o}c of columns. */
public final class StateCode {
    private static final String TABLE_MEMORY = "table.memory()";

    private StateCode() {}

    /** How many columns carry a state other than an extreme between phases. */
    public static int columns(Kind kind) {
        return switch (kind) {
            case COUNT, TRUES, SUM_LONG, SUM_WIDE, SUM_BIGNUM, SQUARES_BIGNUM, MIN, MAX -> 1;
            case SUM_CARRIED, SUM_DOUBLE, SQUARES_DOUBLE -> 2;
            case SUM_DOUBLE_RETRACTABLE, SQUARES_WIDE -> 5;
            case SUM_INTERVAL -> 4;
        };
    }

    static boolean readsArgument(StateSlot slot) {
        return slot.state().kind() != Kind.COUNT && slot.state().argument() != AggregateState.NONE;
    }

    /** Adds the value of {@code column} in {@code row}, {@code weight} times, to the state at {@code at}. */
    static String update(StateSlot slot, String at, int column, String weight) {
        return update(slot, at, column, weight, TABLE_MEMORY);
    }

    /** The same of a state whose bytes are in another memory than the table's. */
    static String update(StateSlot slot, String at, int column, String weight, String memory) {
        boolean once = weight.equals("1L");
        DataType type = slot.argumentType();
        String low = "Memory.getLong(d" + column + " + 16L * row)";
        String high = "Memory.getLong(d" + column + " + 16L * row + 8L)";
        return switch (slot.state().kind()) {
            case COUNT -> increment(at, weight);
            case TRUES -> "if (Memory.getBit(d" + column + ", row)) " + increment(at, weight);
            case SUM_LONG ->
                "Memory.putLong(" + at + ", Math.addExact(Memory.getLong(" + at + "), "
                        + (once
                                ? integer(column, type)
                                : "Math.multiplyExact(" + integer(column, type) + ", " + weight + ")")
                        + "));";
            case SUM_WIDE ->
                type.kind() == DataType.Kind.NUMERIC
                        ? "Wide.add128(" + at + ", " + low + ", " + high + (once ? "" : ", " + weight) + ");"
                        : "Wide.add(" + at + ", " + integer(column, type) + (once ? "" : ", " + weight) + ");";
            case SUM_CARRIED -> "Wide.addCarried(" + at + ", " + low + ", " + high + (once ? "" : ", " + weight) + ");";
            case SUM_DOUBLE -> "Doubles.add(" + at + ", " + inexact(column, type) + (once ? "" : ", " + weight) + ");";
            case SUM_DOUBLE_RETRACTABLE ->
                "Doubles.addRetractable(" + at + ", " + inexact(column, type) + ", " + weight + ");";
            case SQUARES_WIDE ->
                type.kind() == DataType.Kind.NUMERIC
                        ? "Wide.addSquare128(" + at + ", " + low + ", " + high + ", " + weight + ");"
                        : "Wide.addSquare(" + at + ", " + integer(column, type) + ", " + weight + ");";
            case SQUARES_DOUBLE -> "Doubles.addSquare(" + at + ", " + inexact(column, type) + ", " + weight + ");";
            case SUM_INTERVAL -> "Wide.addInterval(" + at + ", " + low + ", " + high + ", " + weight + ");";
            case SUM_BIGNUM -> "BignumSums.add(" + bytes(memory, at, column) + ", " + weight + ");";
            case SQUARES_BIGNUM -> "BignumSums.addSquare(" + bytes(memory, at, column) + ", " + weight + ");";
            case MIN -> extreme("min", "<", at, column, type);
            case MAX -> extreme("max", ">", at, column, type);
        };
    }

    /** Adds a distinct value that is kept at {@code value} to a state of its group, for a weight of -1 takes it from there. */
    static String updateKept(StateSlot slot, String at, String value, String weight) {
        String function = slot.state().kind() == Kind.SUM_BIGNUM ? "addKept" : "addSquareKept";
        return "BignumSums." + function + "(found.memory(), " + at + ", " + value + ", " + weight + ");";
    }

    private static String extreme(String function, String sign, String at, int column, DataType type) {
        String low = "Memory.getLong(d" + column + " + 16L * row)";
        String high = "Memory.getLong(d" + column + " + 16L * row + 8L)";
        return switch (type.kind()) {
            case BOOLEAN, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE, DATE, TIME, TIMESTAMP, TIMESTAMPTZ ->
                "{ long x = " + ordered(column, type) + "; if (x " + sign + " Memory.getLong(" + at
                        + ")) Memory.putLong(" + at + ", x); }";
            case NUMERIC -> "Wide." + function + "(" + at + ", " + low + ", " + high + ");";
            case INTERVAL -> "Extremes." + function + "Interval(" + at + ", " + low + ", " + high + ");";
            case UUID -> "Extremes." + function + "Uuid(" + at + ", " + low + ", " + high + ");";
            case BIGNUM,
                    TEXT,
                    VARCHAR,
                    CHAR,
                    JSONB,
                    BYTEA -> // of equal numbers the order of bytes takes the one of fewer zeros
                "Extremes." + function + "Bytes(" + bytes(TABLE_MEMORY, at, column) + ");";
            case ARRAY, ROW, NULL -> throw new IllegalArgumentException(function + " of " + type);
        };
    }

    /** The arguments of what changes a byte string by the value of a column. */
    private static String bytes(String memory, String at, int column) {
        String from = "Memory.getInt(o" + column + " + 4L * row)";
        return memory + ", " + at + ", d" + column + " + " + from + ", Memory.getInt(o" + column
                + " + 4L * row + 4L) - " + from;
    }

    private static String increment(String at, String weight) {
        return "Memory.putLong(" + at + ", Memory.getLong(" + at + ") + " + weight + ");";
    }

    /** An integer that orders as the value does. */
    private static String ordered(int column, DataType type) {
        return switch (type.kind()) {
            case REAL, DOUBLE -> "Doubles.ordered(" + inexact(column, type) + ")";
            case BOOLEAN -> "(Memory.getBit(d" + column + ", row) ? 1L : 0L)";
            default -> integer(column, type);
        };
    }

    private static String integer(int column, DataType type) {
        return switch (type.fixedWidth()) {
            case 2 -> "(long) Memory.getShort(d" + column + " + 2L * row)";
            case 4 -> "(long) Memory.getInt(d" + column + " + 4L * row)";
            case 8 -> "Memory.getLong(d" + column + " + 8L * row)";
            default -> throw new IllegalArgumentException(type + " is no integer");
        };
    }

    private static String inexact(int column, DataType type) {
        return type.kind() == DataType.Kind.REAL
                ? "(double) Memory.getFloat(d" + column + " + 4L * row)"
                : "Memory.getDouble(d" + column + " + 8L * row)";
    }

    /** Adds a state that a partial phase emitted to the state at {@code at}; not of extremes. */
    static String merge(StateSlot slot, String at, int column) {
        return switch (slot.state().kind()) {
            case COUNT, TRUES, SUM_LONG ->
                "Memory.putLong(" + at + ", Math.addExact(Memory.getLong(" + at + "), " + word(column) + "));";
            case SUM_WIDE ->
                "Wide.add128(" + at + ", Memory.getLong(d" + column + " + 16L * row), Memory.getLong(d" + column
                        + " + 16L * row + 8L));";
            case SUM_CARRIED ->
                "Wide.addCarried(" + at + ", Memory.getLong(d" + column + " + 16L * row), Memory.getLong(d" + column
                        + " + 16L * row + 8L)); " + increment(at + " + 16L", word(column + 1));
            case SUM_DOUBLE, SQUARES_DOUBLE ->
                "Doubles.addSum(" + at + ", " + real(column) + ", " + real(column + 1) + ");";
            case SUM_DOUBLE_RETRACTABLE ->
                "Doubles.addSum(" + at + ", " + real(column) + ", " + real(column + 1) + "); "
                        + increment(at + " + 16L", word(column + 2)) + increment(at + " + 24L", word(column + 3))
                        + increment(at + " + 32L", word(column + 4));
            case SQUARES_WIDE ->
                "Wide.addWords(" + at + ", " + word(column) + ", " + word(column + 1) + ", " + word(column + 2) + ", "
                        + word(column + 3) + ", " + word(column + 4) + ");";
            case SUM_INTERVAL ->
                "Wide.addParts(" + at + ", " + word(column) + ", " + word(column + 1) + ", " + word(column + 2) + ", "
                        + word(column + 3) + ");";
            case SUM_BIGNUM, SQUARES_BIGNUM -> "BignumSums.merge(" + bytes(TABLE_MEMORY, at, column) + ");";
            case MIN, MAX -> throw new IllegalArgumentException("extremes merge as values");
        };
    }

    private static String word(int column) {
        return "Memory.getLong(d" + column + " + 8L * row)";
    }

    private static String real(int column) {
        return "Memory.getDouble(d" + column + " + 8L * row)";
    }
}
