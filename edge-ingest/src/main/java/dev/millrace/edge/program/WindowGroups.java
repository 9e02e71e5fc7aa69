package dev.millrace.edge.program;

import dev.millrace.edge.program.Term.Kind;
import dev.millrace.edge.program.WindowProgram.Aggregate;
import dev.millrace.edge.program.WindowProgram.Function;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongPredicate;

/**
 * The open groups of a program's windows. What is taken of them are {@link Partials}: a group whose rows come after that begins anew, so it may be taken at any
 * time, and nothing is late here. A sum of wholes that would overflow is begun anew, too, as that of another partial. Of one thread.
 */
public final class WindowGroups {
    private static final int GROUP_BYTES = 120; // of the heap, about, besides keys and aggregates
    private static final int VALUE_BYTES = 40;
    private static final long OLDEST_MICROS = Long.MIN_VALUE / 2;

    private final WindowProgram program;
    private final List<Evaluation> keys = new ArrayList<>();
    private final List<Evaluation> arguments = new ArrayList<>();
    private final List<Optional<Evaluation>> filters = new ArrayList<>(); // of the arguments
    private final boolean[] counts; // whether a row's value does, by aggregate
    private final Optional<Evaluation> condition;
    private final Map<Integer, Group> byHash = new HashMap<>(); // the first of those that have a hash
    private final List<Group> full = new ArrayList<>(); // whose sums take no more
    private long bytes;
    private long latestMicros = Long.MIN_VALUE;

    /** A group; those of one hash in a chain. */
    private static final class Group {
        final long window; // its number
        final boolean[] isNull;
        final long[] wholes; // of keys; of a number its bits
        final String[] texts;
        final long[] counts; // of values, by aggregate
        final long[] sums;
        final double[] numbers;
        long rows;
        Optional<Group> next = Optional.empty();

        Group(long window, int keys, int aggregates) {
            this.window = window;
            isNull = new boolean[keys];
            wholes = new long[keys];
            texts = new String[keys];
            counts = new long[aggregates];
            sums = new long[aggregates];
            numbers = new double[aggregates];
        }
    }

    /**
     * Over the columns of a device.
     *
     * @throws MillraceException 42804 if a column is of another kind than the program says
     */
    public WindowGroups(WindowProgram program, Schema schema) {
        this.program = program;
        program.keys().forEach(key -> keys.add(RowNeeds.bound(key, schema)));
        program.aggregates().forEach(aggregate -> {
            arguments.add(RowNeeds.bound(aggregate.argument(), schema));
            filters.add(aggregate.filter().map(term -> RowNeeds.bound(term, schema)));
        });
        counts = new boolean[arguments.size()];
        condition = program.condition().map(term -> RowNeeds.bound(term, schema));
    }

    public WindowProgram program() {
        return program;
    }

    /**
     * Holds a program to the column that a device has as the time of its rows.
     *
     * @throws MillraceException 42804 if its windows are of another one
     */
    public void requireTime(Schema schema, int column) {
        if (timeColumn(schema) != column) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH,
                    "windows are of column \"" + program.time() + "\", and the device's time is \""
                            + schema.field(column).name() + "\"");
        }
    }

    /** The column that has the event time, as a device has it; -1 if it has none. */
    public int timeColumn(Schema schema) {
        return RowNeeds.indexOf(program.time(), schema);
    }

    // ---- rows
    // -------------------------------------------------------------------------------------------------------

    /** Has a row of this event time count, if it does. */
    public void add(RowValues values, int row, long timeMicros) {
        latestMicros = Math.max(latestMicros, timeMicros);
        if (timeMicros < OLDEST_MICROS) {
            return; // as -infinity: there is no such window
        }
        if (condition.isPresent()) {
            condition.get().of(values, row);
            if (!condition.get().isTrue()) {
                return;
            }
        }
        for (Evaluation key : keys) {
            key.of(values, row);
        }
        for (int a = 0; a < arguments.size(); a++) {
            argument(a, values, row);
        }
        Group group = group(windowOf(timeMicros));
        if (overflows(group)) {
            full.add(group);
            remove(group);
            group = group(group.window);
        }
        group.rows++;
        for (int a = 0; a < arguments.size(); a++) {
            if (counts[a]) {
                fold(group, a, arguments.get(a));
            }
        }
    }

    private void argument(int a, RowValues values, int row) {
        Evaluation argument = arguments.get(a);
        argument.of(values, row);
        counts[a] = !argument.isNull;
        if (counts[a] && filters.get(a).isPresent()) {
            Evaluation filter = filters.get(a).get();
            filter.of(values, row);
            counts[a] = filter.isTrue();
        }
    }

    /** The number of the window that has a time. */
    private long windowOf(long micros) {
        long number = Math.floorDiv(micros, program.sizeMicros());
        return Math.floorMod(micros, program.sizeMicros()) < program.offsetMicros() ? number - 1 : number;
    }

    /** That of the keys as they were just computed. */
    private Group group(long window) {
        int hash = Long.hashCode(window);
        for (int k = 0; k < keys.size(); k++) {
            hash = 31 * hash + (keys.get(k).isNull ? 7 : keyHash(k));
        }
        Optional<Group> first = Optional.ofNullable(byHash.get(hash));
        for (Optional<Group> at = first; at.isPresent(); at = at.get().next) {
            if (at.get().window == window && hasKeys(at.get())) {
                return at.get();
            }
        }
        Group made = new Group(window, keys.size(), arguments.size());
        for (int k = 0; k < keys.size(); k++) {
            Evaluation key = keys.get(k);
            made.isNull[k] = key.isNull;
            made.wholes[k] = key.isNull ? 0 : bits(k);
            made.texts[k] = key.isNull ? "" : key.text;
        }
        bytes += bytesOf(made);
        made.next = first;
        byHash.put(hash, made);
        return made;
    }

    private Kind kind(int key) {
        return program.keys().get(key).kind();
    }

    private int keyHash(int key) {
        return kind(key) == Kind.TEXT ? keys.get(key).text.hashCode() : Long.hashCode(bits(key));
    }

    /** Of a number such as are the same as those that SQL has as one group. */
    private long bits(int key) {
        return switch (kind(key)) {
            case NUMBER -> {
                double number = keys.get(key).number;
                yield Double.doubleToLongBits(number == 0 ? 0.0 : number);
            }
            case TRUTH, WHOLE -> keys.get(key).whole;
            case TEXT -> 0;
        };
    }

    private long bytesOf(Group group) {
        long all = GROUP_BYTES + (long) VALUE_BYTES * (keys.size() + arguments.size());
        for (String text : group.texts) {
            all += 2L * text.length();
        }
        return all;
    }

    private boolean hasKeys(Group group) {
        for (int k = 0; k < keys.size(); k++) {
            boolean isNull = keys.get(k).isNull;
            if (isNull != group.isNull[k]
                    || !isNull && (group.wholes[k] != bits(k) || !group.texts[k].equals(keys.get(k).text))) {
                return false;
            }
        }
        return true;
    }

    private boolean overflows(Group group) {
        for (int a = 0; a < arguments.size(); a++) {
            Evaluation argument = arguments.get(a);
            if (counts[a] && program.aggregates().get(a).function() == Function.SUM && group.counts[a] > 0) {
                long sum = group.sums[a] + argument.whole;
                boolean ofWholes = ((group.sums[a] ^ sum) & (argument.whole ^ sum)) < 0;
                boolean ofNumbers = Double.isFinite(group.numbers[a])
                        && Double.isFinite(argument.number)
                        && !Double.isFinite(group.numbers[a] + argument.number);
                if (ofWholes || ofNumbers) {
                    return true;
                }
            }
        }
        return false;
    }

    private void fold(Group group, int a, Evaluation value) {
        boolean first = group.counts[a]++ == 0;
        switch (program.aggregates().get(a).function()) {
            case COUNT -> {}
            case SUM -> {
                group.sums[a] += value.whole;
                group.numbers[a] += value.number;
            }
            case MIN -> {
                group.sums[a] = first ? value.whole : Math.min(group.sums[a], value.whole);
                if (first || Evaluation.order(value.number, group.numbers[a]) < 0) {
                    group.numbers[a] = value.number;
                }
            }
            case MAX -> {
                group.sums[a] = first ? value.whole : Math.max(group.sums[a], value.whole);
                if (first || Evaluation.order(value.number, group.numbers[a]) > 0) {
                    group.numbers[a] = value.number;
                }
            }
        }
    }

    // ---- partials
    // ----------------------------------------------------------------------------------------------------

    public boolean isEmpty() {
        return byHash.isEmpty() && full.isEmpty();
    }

    /** Of the heap that its groups have, about. */
    public long bytes() {
        return bytes;
    }

    /** Takes the groups of windows that have ended by the latest event time; empty if none has. */
    public Optional<byte[]> takeEnded() {
        if (isEmpty()) {
            return Optional.empty();
        }
        long open = windowOf(latestMicros);
        return take(window -> window < open);
    }

    /** Takes all groups; empty without any. */
    public Optional<byte[]> takeAll() {
        return take(window -> true);
    }

    private Optional<byte[]> take(LongPredicate windows) {
        List<Group> taken = new ArrayList<>(full);
        full.clear();
        for (Group group : all(byHash.values())) {
            if (windows.test(group.window)) {
                taken.add(group);
                remove(group);
            }
        }
        taken.forEach(group -> bytes -= bytesOf(group));
        return taken.isEmpty() ? Optional.empty() : Optional.of(encode(taken));
    }

    private static List<Group> all(Collection<Group> firsts) {
        List<Group> all = new ArrayList<>();
        for (Group first : firsts) {
            for (Optional<Group> at = Optional.of(first); at.isPresent(); at = at.get().next) {
                all.add(at.get());
            }
        }
        return all;
    }

    private void remove(Group group) {
        int hash = hash(group);
        Group first = Objects.requireNonNull(byHash.get(hash));
        if (first == group) {
            group.next.ifPresentOrElse(next -> byHash.put(hash, next), () -> byHash.remove(hash));
            return;
        }
        Group before = first;
        while (before.next.isPresent() && before.next.get() != group) {
            before = before.next.get();
        }
        before.next = group.next;
    }

    private int hash(Group group) {
        int hash = Long.hashCode(group.window);
        for (int k = 0; k < keys.size(); k++) {
            int own = kind(k) == Kind.TEXT ? group.texts[k].hashCode() : Long.hashCode(group.wholes[k]);
            hash = 31 * hash + (group.isNull[k] ? 7 : own);
        }
        return hash;
    }

    /** What is open, as partials: what is restored goes on with it. No bytes if nothing is. */
    public byte[] state() {
        List<Group> open = all(byHash.values());
        open.addAll(full);
        return open.isEmpty() ? new byte[0] : encode(open);
    }

    private byte[] encode(List<Group> groups) {
        PartialWriter to = new PartialWriter();
        to.octet(Partials.VERSION);
        to.text(program.id());
        to.count(groups.stream().mapToLong(group -> group.rows).sum());
        to.whole(latestMicros);
        to.count(groups.size());
        groups.sort(Comparator.comparingLong(group -> group.window)); // else the later ones would make others late
        long before = 0;
        for (Group group : groups) {
            to.whole(group.window - before);
            before = group.window;
            encode(group, to);
        }
        return to.bytes();
    }

    private void encode(Group group, PartialWriter to) {
        for (int k = 0; k < keys.size(); k += 8) {
            int nulls = 0;
            for (int i = k; i < Math.min(k + 8, keys.size()); i++) {
                nulls |= group.isNull[i] ? 1 << i - k : 0;
            }
            to.octet(nulls);
        }
        for (int k = 0; k < keys.size(); k++) {
            if (!group.isNull[k]) {
                switch (kind(k)) {
                    case TRUTH -> to.octet((int) group.wholes[k]);
                    case WHOLE -> to.whole(group.wholes[k]);
                    case NUMBER -> to.number(Double.longBitsToDouble(group.wholes[k]));
                    case TEXT -> to.text(group.texts[k]);
                }
            }
        }
        to.count(group.rows);
        for (int a = 0; a < arguments.size(); a++) {
            Aggregate aggregate = program.aggregates().get(a);
            if (aggregate.function() == Function.COUNT) {
                to.count(group.counts[a]);
                continue;
            }
            to.octet(group.counts[a] == 0 ? 0 : 1);
            if (group.counts[a] > 0) {
                if (aggregate.argument().kind() == Kind.WHOLE) {
                    to.whole(group.sums[a]);
                } else {
                    to.number(group.numbers[a]);
                }
            }
        }
    }

    /**
     * Goes on with what was open.
     *
     * @throws MillraceException XX001 if that is of another program
     */
    public void restore(byte[] state) {
        Partials partials = Partials.read(state, program);
        latestMicros = Math.max(latestMicros, partials.latestMicros());
        for (Partials.Group from : partials.groups()) {
            for (int k = 0; k < keys.size(); k++) {
                hold(keys.get(k), from.keys().get(k));
            }
            Group to = group(windowOf(from.windowMicros()));
            if (to.rows > 0) { // one whose sum took no more
                full.add(to);
                remove(to);
                to = group(to.window);
            }
            to.rows = from.rows();
            for (int a = 0; a < arguments.size(); a++) {
                Optional<Object> value = from.values().get(a);
                if (program.aggregates().get(a).function() == Function.COUNT) {
                    to.counts[a] = (Long) value.orElse(0L);
                } else if (value.isPresent()) {
                    to.counts[a] = 1;
                    hold(arguments.get(a), value);
                    to.sums[a] = arguments.get(a).whole;
                    to.numbers[a] = arguments.get(a).number;
                }
            }
        }
    }

    private static void hold(Evaluation in, Optional<Object> value) {
        in.isNull = value.isEmpty();
        value.ifPresent(held -> {
            if (held instanceof Long whole) {
                in.whole = whole;
            } else if (held instanceof Double number) {
                in.number = number;
            } else if (held instanceof String text) {
                in.text = text;
            } else if (held instanceof Boolean truth) {
                in.whole = truth ? 1 : 0;
            }
        });
    }
}
