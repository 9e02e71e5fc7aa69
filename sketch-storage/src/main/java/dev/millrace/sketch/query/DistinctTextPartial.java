package dev.millrace.sketch.query;

import java.util.HashMap;
import java.util.Map;

/** COUNT(DISTINCT ..) of texts, which are exact. */
final class DistinctTextPartial implements Partial {
    private final Map<String, Integer> verdicts = new HashMap<>();

    @Override
    public void add(Cells cells, CellValues values) {
        byte[] found = new byte[values.texts().size() + 1];
        for (int i = 0; i < cells.count; i++) {
            found[values.rank(cells, i)] |= cells.verdicts[i];
        }
        for (int rank = 0; rank < values.texts().size(); rank++) {
            if (found[rank] != 0) {
                add(values.texts().text(rank), (int) found[rank]);
            }
        }
    }

    private void add(String text, int verdict) {
        verdicts.merge(text, verdict, (a, b) -> a | b);
        DistinctPartial.checkSize(verdicts.size());
    }

    @Override
    public void combine(Partial other) {
        ((DistinctTextPartial) other).verdicts.forEach(this::add);
    }

    @Override
    public Estimate estimate() {
        RowCounts rows = new RowCounts();
        verdicts.values().forEach(verdict -> rows.add(verdict, 1));
        return rows.count();
    }
}
