package dev.millrace.engine.aggregate;

import dev.millrace.engine.aggregate.AggregateLayout.StateSlot;
import dev.millrace.engine.aggregate.number.BignumSums;
import dev.millrace.engine.aggregate.number.Doubles;
import dev.millrace.engine.aggregate.number.Extremes;
import dev.millrace.engine.aggregate.number.Wide;
import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.plan.node.AggregateState.Kind;
import dev.millrace.type.DataType;

/** Adds states of entries to states of other entries of the same layout, a state at a time. */
final class StateMerge {
    private StateMerge() {}

    static void merge(StateSlot slot, long[] from, long[] to, int count, StateMemory memory) {
        int at = slot.offset();
        switch (slot.state().kind()) {
            case COUNT, TRUES -> {
                for (int i = 0; i < count; i++) {
                    Memory.putLong(to[i] + at, Memory.getLong(to[i] + at) + Memory.getLong(from[i] + at));
                }
            }
            case SUM_LONG -> {
                for (int i = 0; i < count; i++) {
                    Memory.putLong(to[i] + at, Math.addExact(Memory.getLong(to[i] + at), Memory.getLong(from[i] + at)));
                }
            }
            case SUM_WIDE -> {
                for (int i = 0; i < count; i++) {
                    Wide.add128(to[i] + at, Memory.getLong(from[i] + at), Memory.getLong(from[i] + at + 8));
                }
            }
            case SUM_CARRIED -> {
                for (int i = 0; i < count; i++) {
                    Wide.addCarried(to[i] + at, Memory.getLong(from[i] + at), Memory.getLong(from[i] + at + 8));
                    long carries = Memory.getLong(to[i] + at + 16) + Memory.getLong(from[i] + at + 16);
                    Memory.putLong(to[i] + at + 16, carries);
                }
            }
            case SUM_DOUBLE, SQUARES_DOUBLE, SUM_DOUBLE_RETRACTABLE -> {
                for (int i = 0; i < count; i++) {
                    Doubles.addSum(to[i] + at, Memory.getDouble(from[i] + at), Memory.getDouble(from[i] + at + 8));
                }
                if (slot.state().kind() == Kind.SUM_DOUBLE_RETRACTABLE) {
                    for (int i = 0; i < count; i++) {
                        for (int word = 16; word < 40; word += 8) {
                            long sum = Memory.getLong(to[i] + at + word) + Memory.getLong(from[i] + at + word);
                            Memory.putLong(to[i] + at + word, sum);
                        }
                    }
                }
            }
            case SQUARES_WIDE -> {
                for (int i = 0; i < count; i++) {
                    long words = from[i] + at;
                    Wide.addWords(
                            to[i] + at,
                            Memory.getLong(words),
                            Memory.getLong(words + 8),
                            Memory.getLong(words + 16),
                            Memory.getLong(words + 24),
                            Memory.getLong(words + 32));
                }
            }
            case SUM_INTERVAL -> {
                for (int i = 0; i < count; i++) {
                    long parts = from[i] + at;
                    Wide.addParts(
                            to[i] + at,
                            Memory.getLong(parts),
                            Memory.getLong(parts + 8),
                            Memory.getLong(parts + 16),
                            Memory.getLong(parts + 24));
                }
            }
            case SUM_BIGNUM, SQUARES_BIGNUM -> {
                for (int i = 0; i < count; i++) {
                    if (!Extremes.isAbsent(from[i] + at)) {
                        BignumSums.merge(
                                memory, to[i] + at, ByteSlots.address(from[i] + at), ByteSlots.length(from[i] + at));
                    }
                }
            }
            case MIN, MAX -> mergeExtremes(slot, from, to, count, memory);
        }
    }

    private static void mergeExtremes(StateSlot slot, long[] from, long[] to, int count, StateMemory memory) {
        boolean min = slot.state().kind() == Kind.MIN;
        int at = slot.offset();
        if (SlotKind.of(slot.argumentType()) == SlotKind.WORD) {
            for (int i = 0; i < count; i++) {
                long a = Memory.getLong(to[i] + at);
                long b = Memory.getLong(from[i] + at);
                Memory.putLong(to[i] + at, min ? Math.min(a, b) : Math.max(a, b));
            }
            return;
        }
        for (int i = 0; i < count; i++) {
            if (slot.isBytes()) {
                if (!Extremes.isAbsent(from[i] + at)) {
                    mergeBytes(min, from[i] + at, to[i] + at, memory);
                }
            } else {
                mergeWide(slot.argumentType(), min, from[i] + at, to[i] + at);
            }
        }
    }

    private static void mergeBytes(boolean min, long from, long to, StateMemory memory) {
        if (min) {
            Extremes.minBytes(memory, to, ByteSlots.address(from), ByteSlots.length(from));
        } else {
            Extremes.maxBytes(memory, to, ByteSlots.address(from), ByteSlots.length(from));
        }
    }

    private static void mergeWide(DataType type, boolean min, long from, long to) {
        long first = Memory.getLong(from);
        long second = Memory.getLong(from + 8);
        if (type.kind() == DataType.Kind.NUMERIC) {
            if (min) {
                Wide.min(to, first, second);
            } else {
                Wide.max(to, first, second);
            }
        } else if (type.kind() == DataType.Kind.UUID) {
            if (min) {
                Extremes.minUuid(to, first, second);
            } else {
                Extremes.maxUuid(to, first, second);
            }
        } else if (first != Extremes.NO_INTERVAL[0]) {
            if (min) {
                Extremes.minInterval(to, first, second);
            } else {
                Extremes.maxInterval(to, first, second);
            }
        }
    }
}
