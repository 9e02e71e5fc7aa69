package dev.millrace.cli.shell;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.cli.format.AlignedTable;
import dev.millrace.cli.format.DisplayText;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.server.result.StatementResult;
import dev.millrace.text.TimeStyle;
import dev.millrace.time.Clock;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntSupplier;

/**
 * A subscription as a table in the terminal that is drawn anew when it changes: the current rows of an answer that changes,
 * the last rows of one that only grows. Ends with its statement; what was drawn last stays.
 */
final class LiveTable {
    private static final long REDRAW_MICROS = 100_000;
    private static final int SHOWN_ROWS = 20;

    private final StatementResult.Changes changes;
    private final Clock clock;
    private final TimeStyle style; // in which dates and times are shown
    private final Writer out;
    private final IntSupplier columns;
    private final Deque<String[]> tail = new ArrayDeque<>();
    private final Map<List<String>, Long> current = new TreeMap<>(LiveTable::compare);
    private long changeCount;
    private int drawnLines;

    /**
     * @param style in which dates and times are shown
     * @param columns how many cells the terminal is wide now: longer lines are cut, as wrapped ones could not be drawn over
     */
    LiveTable(StatementResult.Changes changes, TimeStyle style, Clock clock, Writer out, IntSupplier columns) {
        this.style = style;
        this.changes = changes;
        this.clock = clock;
        this.out = out;
        this.columns = columns;
    }

    void run() throws IOException {
        long drawnNanos = 0;
        boolean stale = true;
        while (!changes.isFinished() || stale) {
            Optional<EpochChanges> next = changes.isFinished() ? Optional.empty() : changes.next(REDRAW_MICROS);
            if (next.isPresent()) {
                try (EpochChanges epoch = next.get()) {
                    epoch.batches().forEach(this::apply);
                }
                stale = true;
            }
            long now = clock.nanoTime();
            if (stale && (next.isEmpty() || now - drawnNanos >= REDRAW_MICROS * 1000)) {
                draw();
                drawnNanos = now;
                stale = false;
            }
        }
    }

    private void apply(Batch batch) {
        for (int row = 0; row < batch.rowCount(); row++) {
            String[] texts = new String[batch.columnCount()];
            for (int column = 0; column < texts.length; column++) {
                texts[column] = ValueText.format(batch, column, row, style).orElse("");
            }
            changeCount++;
            if (changes.appendOnly()) {
                tail.addLast(texts);
                if (tail.size() > SHOWN_ROWS) {
                    tail.removeFirst();
                }
                continue;
            }
            long weight = weight(batch, row);
            current.merge(List.of(texts), weight, (a, b) -> a + b == 0 ? null : a + b);
        }
    }

    private static long weight(Batch batch, int row) {
        return batch.weights().map(weights -> weights.get(row)).orElse(1L);
    }

    private void draw() throws IOException {
        AlignedTable table = new AlignedTable(changes.schema());
        int hidden = 0;
        if (changes.appendOnly()) {
            tail.forEach(texts -> table.add(texts.clone()));
        } else {
            List<List<String>> shown = new ArrayList<>();
            for (Map.Entry<List<String>, Long> row : current.entrySet()) {
                for (long copy = row.getValue(); copy > 0 && shown.size() < SHOWN_ROWS; copy--) {
                    shown.add(row.getKey());
                }
            }
            hidden = Math.max(0, current.size() - SHOWN_ROWS);
            shown.forEach(row -> table.add(row.toArray(String[]::new)));
        }
        StringBuilder text = new StringBuilder();
        table.write(text);
        text.append(hidden > 0 ? "(and " + hidden + " more rows; " : "(").append(changeCount);
        text.append(" changes; Ctrl-C stops)\n");
        redraw(text.toString());
    }

    /** Goes back over what was drawn last; each line is wiped behind its text, and what is left below at the end. */
    private void redraw(String text) throws IOException {
        if (drawnLines > 0) {
            out.write("\u001b[" + drawnLines + "A");
        }
        int width = columns.getAsInt();
        for (String line : text.split("\n")) {
            out.write(DisplayText.cut(line, width) + "\u001b[K\n");
        }
        out.write("\u001b[J");
        out.flush();
        drawnLines = (int) text.chars().filter(c -> c == '\n').count();
    }

    /** Numbers by value, other texts by their characters: the order someone expects to find keys in. */
    private static int compare(List<String> a, List<String> b) {
        for (int column = 0; column < a.size(); column++) {
            int order = compare(a.get(column), b.get(column));
            if (order != 0) {
                return order;
            }
        }
        return 0;
    }

    private static int compare(String a, String b) {
        boolean numbers = isDigits(a);
        if (numbers != isDigits(b)) {
            return numbers ? -1 : 1;
        }
        return numbers && a.length() != b.length() ? Integer.compare(a.length(), b.length()) : a.compareTo(b);
    }

    private static boolean isDigits(String text) {
        return !text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9');
    }
}
