package dev.millrace.sketch.query;

/** COUNT of a feature: rows where it is not NULL. */
final class CountPartial implements Partial {
    private final RowCounts rows = new RowCounts();

    @Override
    public void add(Cells cells, CellValues values) {
        for (int i = 0; i < cells.count; i++) {
            if (!values.isNull(values.rank(cells, i))) {
                rows.add(cells.verdicts[i], cells.weights[i]);
            }
        }
    }

    @Override
    public void combine(Partial other) {
        rows.add(((CountPartial) other).rows);
    }

    @Override
    public Estimate estimate() {
        return rows.count();
    }
}
