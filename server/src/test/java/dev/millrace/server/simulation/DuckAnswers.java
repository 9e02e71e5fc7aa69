package dev.millrace.server.simulation;

import dev.millrace.testing.oracle.Oracle;
import dev.millrace.testing.rows.Row;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What views must answer by DuckDB, over the rows that the model says relations have. */
final class DuckAnswers implements AutoCloseable {
    private static final Schema PAIR =
            new Schema(List.of(new Field("k", DataType.BIGINT, true), new Field("v", DataType.BIGINT, true)));

    private final HistoryModel model;
    private final Oracle oracle = Oracle.open();

    DuckAnswers(HistoryModel model) {
        this.model = model;
        model.all(ModelObject.Table.class).forEach(table -> create(table.name(), model.rows(table.rows())));
        model.all(ModelObject.Stream.class).forEach(stream -> create(stream.name(), model.rows(stream.rows())));
    }

    private void create(String name, List<ModelRow> rows) {
        oracle.execute("CREATE TABLE " + name + " (n BIGINT, k BIGINT, v BIGINT, ts BIGINT)");
        List<String> values = new ArrayList<>();
        for (int n = 0; n < rows.size(); n++) {
            List<Long> row = rows.get(n).values();
            values.add(
                    "(" + n + ", " + row.get(0) + ", " + row.get(1) + ", " + (row.size() > 2 ? row.get(2) : 0L) + ")");
        }
        if (!values.isEmpty()) {
            oracle.execute("INSERT INTO " + name + " VALUES " + String.join(", ", values));
        }
    }

    /** The rows of a view, as text, sorted. */
    List<String> rows(ModelObject.View view) {
        return oracle.query("SELECT k, v FROM " + sql(view.name(), Map.of(), Map.of()), PAIR).stream()
                .map(DuckAnswers::text)
                .sorted()
                .toList();
    }

    private static String text(Row row) {
        return row.get(0) + "|" + row.get(1);
    }

    /**
     * @param since from where streams are read, where nothing in between says it
     * @param until up to where
     */
    private String sql(String name, Map<Integer, Integer> since, Map<Integer, Integer> until) {
        ModelObject object = model.catalog().get(name);
        if (object instanceof ModelObject.Stream stream) {
            return "(SELECT * FROM " + name + " WHERE n >= " + since.getOrDefault(stream.rows(), 0) + " AND n < "
                    + until.getOrDefault(stream.rows(), Integer.MAX_VALUE) + ")";
        } else if (object instanceof ModelObject.View view) {
            Map<Integer, Integer> from = view.isMaterialized() ? view.since() : since;
            Map<Integer, Integer> to = view.isMaterialized() ? view.until() : until;
            List<String> inputs =
                    view.inputs().stream().map(input -> sql(input, from, to)).toList();
            return "(" + view.shape().oracleSql(inputs, view.number()) + ")";
        }
        return name;
    }

    @Override
    public void close() {
        oracle.close();
    }
}
