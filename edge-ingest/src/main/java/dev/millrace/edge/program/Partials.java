package dev.millrace.edge.program;

import dev.millrace.edge.program.Term.Kind;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a device has of groups of windows, of which there may be more: all partials of a group together are its aggregates.
 *
 * <p>Groups are in the order of their windows. As bytes, version 1: a byte 1; the program's id; how many rows; the latest event time; how many groups; then each: the number of its window, less that of the
 * one before; bits of the keys that are NULL, eight a byte; the other keys; how many rows; the aggregates. Lengths and counts have seven bits a byte, whole numbers
 * likewise after zigzag, numbers 8 bytes, big endian, texts a length and UTF-8, truth values a byte. COUNT is a count, others a byte 1 and the value, or a byte 0.
 *
 * @param id of the program
 * @param rows that counted, of all groups
 * @param latestMicros the latest event time that the device has seen
 */
public record Partials(String id, long rows, long latestMicros, List<Group> groups) {
    static final int VERSION = 1;
    private static final long MOST_ROWS = 1L << 40; // that a record says it has, so that no sum of counts overflows

    /**
     * Of one window and group.
     *
     * @param windowMicros where the window begins
     * @param keys a Long, Double, String or Boolean each, or NULL
     * @param values of the aggregates: a Long or Double each, or NULL
     */
    public record Group(long windowMicros, List<Optional<Object>> keys, long rows, List<Optional<Object>> values) {}

    /** What is said before the groups; without a program. */
    public record Head(String id, long rows, long latestMicros) {}

    /** @throws MillraceException XX001 if it is none */
    public static Head head(byte[] bytes) {
        try {
            return head(ByteBuffer.wrap(bytes));
        } catch (BufferUnderflowException e) {
            throw damaged();
        }
    }

    private static Head head(ByteBuffer in) {
        if (in.get() != VERSION) {
            throw damaged();
        }
        return new Head(text(in), count(in), whole(in));
    }

    /** @throws MillraceException XX001 if these are none of the program */
    public static Partials read(byte[] bytes, WindowProgram program) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        try {
            Head head = head(in);
            long count = count(in);
            boolean isPossible = 0 <= count && count <= in.remaining() && 0 <= head.rows() && head.rows() <= MOST_ROWS;
            if (!head.id().equals(program.id()) || !isPossible) {
                throw damaged();
            }
            List<Group> groups = new ArrayList<>();
            long window = 0;
            long rows = 0;
            for (long i = 0; i < count; i++) {
                window += whole(in);
                Group group = group(in, window, program);
                requireRight(group, head.rows() - rows, program);
                rows += group.rows();
                groups.add(group);
            }
            if (in.hasRemaining() || rows != head.rows()) {
                throw damaged();
            }
            return new Partials(head.id(), head.rows(), head.latestMicros(), groups);
        } catch (BufferUnderflowException | ArithmeticException e) {
            throw damaged();
        }
    }

    private static Group group(ByteBuffer in, long window, WindowProgram program) {
        byte[] nulls = new byte[program.keys().size() + 7 >>> 3];
        in.get(nulls);
        List<Optional<Object>> keys = new ArrayList<>();
        for (int k = 0; k < program.keys().size(); k++) {
            boolean isNull = (nulls[k >>> 3] >>> (k & 7) & 1) != 0;
            keys.add(
                    isNull
                            ? Optional.empty()
                            : Optional.of(value(in, program.keys().get(k).kind())));
        }
        long rows = count(in);
        List<Optional<Object>> values = new ArrayList<>();
        for (WindowProgram.Aggregate aggregate : program.aggregates()) {
            if (aggregate.function() == WindowProgram.Function.COUNT) {
                values.add(Optional.of(count(in)));
            } else {
                values.add(
                        in.get() == 0
                                ? Optional.empty()
                                : Optional.of(value(in, aggregate.argument().kind())));
            }
        }
        long start = Math.addExact(Math.multiplyExact(window, program.sizeMicros()), program.offsetMicros());
        return new Group(start, keys, rows, values);
    }

    /** What rows can have made: else a mean would be of no values, or a count beyond what there is. */
    private static void requireRight(Group group, long mostRows, WindowProgram program) {
        if (group.rows() <= 0 || group.rows() > mostRows) {
            throw damaged();
        }
        List<WindowProgram.Aggregate> aggregates = program.aggregates();
        for (int a = 0; a < aggregates.size(); a++) {
            if (aggregates.get(a).function() == WindowProgram.Function.COUNT) {
                long counted = (Long) group.values().get(a).orElseThrow();
                if (counted < 0 || counted > group.rows()) {
                    throw damaged();
                }
                for (int b = 0; b < aggregates.size(); b++) {
                    if (aggregates.get(b).isOfSameValues(aggregates.get(a))
                            && group.values().get(b).isPresent() != (counted > 0)) {
                        throw damaged();
                    }
                }
            }
        }
    }

    private static Object value(ByteBuffer in, Kind kind) {
        return switch (kind) {
            case TRUTH -> in.get() != 0;
            case WHOLE -> whole(in);
            case NUMBER -> in.getDouble();
            case TEXT -> text(in);
        };
    }

    private static long count(ByteBuffer in) {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            byte next = in.get();
            value |= (next & 0x7fL) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw damaged();
    }

    private static long whole(ByteBuffer in) {
        long value = count(in);
        return value >>> 1 ^ -(value & 1);
    }

    private static String text(ByteBuffer in) {
        long length = count(in);
        if (length < 0 || length > in.remaining()) {
            throw damaged();
        }
        byte[] bytes = new byte[(int) length];
        in.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static MillraceException damaged() {
        return MillraceException.external(
                SqlState.DATA_CORRUPTED, "what should be partial aggregates of a device is none");
    }
}
