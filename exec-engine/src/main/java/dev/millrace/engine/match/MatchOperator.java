package dev.millrace.engine.match;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Owned;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.match.MatchSpec;
import dev.millrace.plan.match.MatchSpec.AfterMatch;
import dev.millrace.plan.match.MatchValue;
import dev.millrace.plan.node.PlanNode.Match;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds row patterns ({@link Match}). Rows wait until the watermark has passed them; then each partition they belong to is
 * looked at once:
 *
 * <pre>
 *   pending -> sorted into the partition -> conditions over neighbours, for all partitions at once
 *           -> search from the partition's start: match, show it, go on behind it; or none, go on at the next row;
 *              or it depends on rows to come, and the partition waits
 * </pre>
 *
 * Of a partition that waits the rows are kept; the search begins anew when more come, unless it is long already, when it is
 * kept too. So a snapshot holds rows only.
 */
public final class MatchOperator implements Operator {

    /** A search under way over so many rows is kept rather than done again. */
    private static final int LONG_SEARCH = 32;

    private final Match node;
    private final MatchSpec spec;
    private final int timeColumn; // -1 if the order does not begin with a time: then all rows wait for the end
    private final int rowsBefore;
    private final int rowsBehind;
    private final boolean keepsPartitions;
    private final PatternProgram program;
    private final Map<Long, Search> kept = new HashMap<>();
    private final PartitionDeadlines deadlines = new PartitionDeadlines();
    private final Owned owned = new Owned();
    private OperatorContext context;
    private List<DataType> types;
    private RowCodec codec;
    private Partitions partitions;
    private Arrivals arrivals;
    private Conditions conditions;
    private MatchOutput matches;
    private Search spare;
    private long watermark = NO_WATERMARK;
    private boolean ended;

    // the round under way: partitions to look at, and how far that went
    private boolean inRound;
    private long[] touched = new long[256];
    private int touchedCount;
    private int done;
    private Optional<Search> current = Optional.empty();
    private boolean isShowing;
    private boolean found; // what is shown is a match, and not a row of none

    public MatchOperator(Match node) {
        this.node = node;
        this.spec = node.spec();
        this.program = PatternProgram.of(spec.pattern());
        List<MatchValue> all = new ArrayList<>(node.values());
        all.addAll(Conditions.tracked(spec));
        this.rowsBefore = all.stream()
                .mapToInt(value ->
                        value instanceof MatchValue.Navigation navigation ? Math.max(0, -navigation.shift()) : 0)
                .max()
                .orElse(0);
        this.rowsBehind = Conditions.ahead(node.values());
        boolean numbered = node.values().stream().anyMatch(MatchValue.Number.class::isInstance);
        boolean anchored = false;
        for (int at = 0; at < program.size(); at++) {
            anchored |= program.operation(at) == PatternProgram.START;
        }
        this.keepsPartitions = numbered || anchored;
        this.timeColumn = timeColumn(node);
    }

    private static int timeColumn(Match node) {
        if (node.order().isEmpty() || node.order().get(0).descending()) {
            return -1;
        }
        OrderKey first = node.order().get(0);
        return node.input().schema().type(first.column()).isTimestamp() ? first.column() : -1;
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        types = node.input().schema().fields().stream().map(Field::type).toList();
        KeyLayout keys = new KeyLayout(node.input().schema(), node.partition());
        codec = owned.own(new RowCodec(types, false, context.allocator()));
        RowOrder order = new RowOrder(codec, types, node.order());
        partitions = owned.own(new Partitions(keys, order, context.allocator()));
        arrivals = owned.own(new Arrivals(node.input().schema(), keys, codec, order, partitions, timeColumn, context));
        conditions = owned.own(
                new Conditions(spec, newMapping(), codec, context.batchRows(), context.clock(), context.allocator()));
        matches = owned.own(new MatchOutput(node, codec, types, context));
        spare = newSearch();
    }

    private Mapping newMapping() {
        return new Mapping(spec, Conditions.tracked(spec), codec, types);
    }

    private Search newSearch() {
        return new Search(
                program,
                conditions,
                newMapping(),
                spec.withinMicros().orElse(-1),
                timeColumn < 0 ? 0 : codec.slot(timeColumn));
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            arrivals.add(batch, watermark);
        }
        reportSize();
    }

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        watermark = Math.max(watermark, watermarkMicros); // one that was restored may be ahead of the input
        if (watermarkMicros == END_OF_INPUT) {
            ended = true;
            return node.inputSpeaksAtEpochEnd() || round(output);
        }
        return timeColumn < 0 || round(output);
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        boolean all = !ended || !node.inputSpeaksAtEpochEnd() || round(output);
        reportSize();
        return all;
    }

    private void reportSize() {
        context.metrics().stateSize(partitions.bytes(), partitions.rows().size());
    }

    // ---- a round ---------------------------------------------------------------------------------------------------

    private boolean round(Output output) {
        if (!inRound) {
            inRound = true;
            done = 0;
            collect();
            decide();
        }
        for (; done < touchedCount; done++) {
            if (!search(touched[done], output)) {
                return false;
            }
        }
        if (!matches.flush(output)) {
            return false;
        }
        touchedCount = 0;
        inRound = false;
        reportSize();
        return true;
    }

    /** Finds the partitions that rows or time have come for. */
    private void collect() {
        arrivals.takeDue(watermark, ended, this::touch);
        while (deadlines.isDue(watermark)) {
            long entry = deadlines.poll();
            partitions.flag(entry, Partitions.TIMED, false);
            touch(entry);
        }
        if (ended) {
            EntryCursor all = new EntryCursor(partitions.table(), 256);
            for (int count = all.advance(); count > 0; count = all.advance()) {
                for (int i = 0; i < count; i++) {
                    touch(all.entries()[i]);
                }
            }
        }
    }

    private void touch(long entry) {
        if (partitions.is(entry, Partitions.TOUCHED)) {
            return;
        }
        partitions.flag(entry, Partitions.TOUCHED, true);
        if (touchedCount == touched.length) {
            touched = Arrays.copyOf(touched, 2 * touchedCount);
        }
        touched[touchedCount++] = entry;
    }

    /** Sorts the new rows in and computes their conditions over neighbours. */
    private void decide() {
        NeighbourConditions neighbours = conditions.neighbours();
        int ahead = neighbours.rowsAhead();
        for (int i = 0; i < touchedCount; i++) {
            long entry = touched[i];
            int before = partitions.count(entry);
            partitions.sortIn(entry);
            int count = partitions.count(entry);
            int from = Math.max(partitions.decided(entry), partitions.start(entry));
            int to = ended ? count : Math.max(from, count - ahead);
            Search rows = kept.isEmpty() ? spare : kept.getOrDefault(entry, spare);
            if (rows != spare) {
                extend(rows, entry, before);
            } else if (!neighbours.isEmpty() && from < to) {
                load(spare, entry);
            }
            if (!neighbours.isEmpty()) {
                for (int at = from; at < to; at++) {
                    neighbours.add(rows.rows(), count, at);
                }
            }
            partitions.setDecided(entry, to);
        }
        neighbours.flush();
    }

    private void load(Search search, long entry) {
        search.reset(!partitions.is(entry, Partitions.CUT));
        for (long row = partitions.first(entry); row != 0; row = StoredRows.next(row)) {
            search.append(row);
        }
    }

    /** Gives a kept search the rows that are new. */
    private void extend(Search search, long entry, int before) {
        long row = before == 0 ? partitions.first(entry) : StoredRows.next(search.row(before - 1));
        for (; row != 0; row = StoredRows.next(row)) {
            search.append(row);
        }
    }

    /** Looks at a partition; false if the output is full, to go on with it later. */
    private boolean search(long entry, Output output) {
        if (current.isEmpty()) {
            current = Optional.of(resume(entry));
        }
        Search search = current.get();
        while (true) {
            if (isShowing) {
                if (!matches.show(search, output)) {
                    return false;
                }
                isShowing = false;
                goOn(entry, search);
            }
            if (search.start() >= search.count()) {
                break;
            }
            Search.Outcome outcome = search.run();
            if (outcome == Search.Outcome.WAITING) {
                break;
            }
            found = outcome == Search.Outcome.MATCHED;
            if (found) {
                boolean seesAhead = rowsBehind > 0 && search.length() > 0;
                if (seesAhead && !ended && search.end() - 1 + rowsBehind >= search.count()) {
                    break;
                }
                matches.begin(search, partitions.nextNumber(entry));
                isShowing = true;
            } else if (search.start() >= partitions.matched(entry)) {
                matches.beginUnmatched(search);
                isShowing = true;
            } else {
                search.begin(search.start() + 1);
            }
        }
        current = Optional.empty();
        leave(entry, search);
        return true;
    }

    private Search resume(long entry) {
        Search known = kept.isEmpty() ? null : kept.remove(entry);
        Search search = known == null ? spare : known;
        if (known == null) {
            load(search, entry);
        }
        search.know(partitions.decided(entry), ended, watermark);
        if (known == null) {
            search.begin(partitions.start(entry));
        }
        return search;
    }

    /** Where the search goes on after what was shown. */
    private void goOn(long entry, Search search) {
        int next = search.start() + 1;
        if (found && search.length() > 0) {
            partitions.setMatched(entry, Math.max(partitions.matched(entry), search.end()));
            if (spec.after() instanceof AfterMatch.PastLastRow) {
                next = search.end();
            } else if (spec.after() instanceof AfterMatch.ToSymbol to) {
                next = rowOf(to, search);
            }
        }
        search.begin(next);
    }

    private int rowOf(AfterMatch.ToSymbol to, Search search) {
        List<Integer> variables = spec.symbols().get(to.symbol()).variables();
        int row = -1;
        for (int at = search.start(); at < search.end() && (to.last() || row < 0); at++) {
            row = variables.contains(search.variableAt(at)) ? at : row;
        }
        String symbol = "\"" + spec.symbols().get(to.symbol()).name() + "\"";
        if (row < 0) {
            throw MillraceException.user(
                    SqlState.SKIP_TO_NON_EXISTENT_ROW,
                    "AFTER MATCH SKIP TO " + symbol + ": no row of the match is mapped to it");
        }
        if (row == search.start()) {
            throw MillraceException.user(
                            SqlState.SKIP_TO_FIRST_ROW_OF_MATCH,
                            "AFTER MATCH SKIP TO " + symbol
                                    + ": it is the first row of the match, which would be found for ever")
                    .withHint("skip to a variable that the match does not begin with");
        }
        return row;
    }

    /** Forgets what is behind and keeps what is under way. */
    private void leave(long entry, Search search) {
        partitions.flag(entry, Partitions.TOUCHED, false);
        int start = search.start();
        int gone = Math.max(0, start - rowsBefore);
        partitions.advance(entry, gone, start);
        boolean waits = start < search.count();
        if (waits && spec.withinMicros().isPresent() && !partitions.is(entry, Partitions.TIMED)) {
            long deadline = search.time(start) + spec.withinMicros().getAsLong() + 1;
            if (deadline > watermark) {
                partitions.flag(entry, Partitions.TIMED, true);
                deadlines.add(deadline, entry);
            }
        }
        if (waits && search.length() >= LONG_SEARCH) {
            search.forget(gone);
            kept.put(entry, search);
            if (search == spare) {
                spare = newSearch();
            }
        }
        boolean forgettable = !keepsPartitions && !ended && !partitions.is(entry, Partitions.TIMED);
        if (forgettable && partitions.isEmpty(entry)) {
            partitions.remove(entry);
        }
    }

    // ---- snapshots -------------------------------------------------------------------------------------------------

    @Override
    public void snapshot(StateWriter writer) throws IOException {
        writer.keyGroup(StateFormats.MATCHED, -1).writeLong(watermark);
        KeyGroupPart.EntryWriter arrived = arrivals.writer();
        KeyGroupPart.of(partitions.table(), (entry, out) -> {
                    partitions.write(entry, out);
                    arrived.write(entry, out);
                })
                .write(writer, StateFormats.MATCHED);
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(StateFormats.MATCHED, (in, group) -> {
            if (group == -1) {
                watermark = Math.max(watermark, in.readLong());
                ended = watermark == END_OF_INPUT;
                return;
            }
            partitions.read(in, entry -> {
                arrivals.read(entry, in);
                if (spec.withinMicros().isPresent() && partitions.start(entry) < partitions.count(entry)) {
                    partitions.flag(entry, Partitions.TIMED, true);
                    deadlines.add(NO_WATERMARK, entry); // looked at in the next round, which knows better
                }
            });
        });
        arrivals.restored();
        reportSize();
    }

    @Override
    public void close() {
        kept.clear();
        deadlines.clear();
        owned.close();
    }
}
